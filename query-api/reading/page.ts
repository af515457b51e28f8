import type { Context } from 'koa'
import { type Expression, type QueryExecutorProvider, sql } from 'kysely'
import { maxOffset } from '../../schemas/shared.ts'
import { Invalid } from '../../schemas/validate.ts'

/** Exact counts beyond this are not worth their cost. */
export const maxExactCount = 10_000

/** The requested page and its number of rows; `mayEndEarly`: a short page need not be the last. */
export type Paged = { limit?: number; offset?: number; shown: number; mayEndEarly?: boolean }

/**
 * Sets `X-Total-Count` (exact to 10,000, then `10000+`) and `Link` (`next`, `prev`) on a list response.
 * `counted` may be capped at 10,001; beyond that, every full page links to a next one, as does every page that may
 * have ended early, so the last page may be empty.
 */
export function pageHeaders(
  ctx: Context,
  { limit = 50, offset = 0, shown, mayEndEarly = false }: Paged,
  counted: number,
): void {
  ctx.set('X-Total-Count', counted > maxExactCount ? `${maxExactCount}+` : String(counted))
  const links: string[] = []
  const next = offset + (mayEndEarly && shown > 0 ? shown : limit)
  const isFull = shown === limit || (mayEndEarly && shown > 0)
  const isMore = next < counted || (counted > maxExactCount && isFull)
  if (isMore && next <= maxOffset) links.push(link(ctx, limit, next, 'next'))
  if (offset > 0) links.push(link(ctx, limit, Math.max(0, offset - limit), 'prev'))
  if (links.length > 0) ctx.set('Link', links.join(', '))
}

/** The number of rows of a query, counted up to the limit of `X-Total-Count`. */
export async function countRows(
  db: QueryExecutorProvider,
  rows: { limit(count: number): Expression<unknown> },
): Promise<number> {
  const { rows: counted } = await sql<{ count: number }>`
    select count(*) as count from ${rows.limit(maxExactCount + 1)} as found`.execute(db)
  return counted[0]?.count ?? 0
}

function link(ctx: Context, limit: number, offset: number, rel: string): string {
  const query = new URLSearchParams(ctx.querystring)
  query.set('limit', String(limit))
  query.set('offset', String(offset))
  return `<${ctx.path}?${query}>; rel="${rel}"`
}

/** Parses `sort`, e.g. `-created_at`; 422 for a field that is not in `known`. */
export function parseSort<F extends string>(
  sort: string,
  known: readonly F[],
): { by: F; desc: boolean } {
  const desc = sort.startsWith('-')
  const by = known.find(name => name === (desc ? sort.slice(1) : sort))
  if (by !== undefined) return { by, desc }
  throw new Invalid([
    {
      loc: ['query', 'sort'],
      msg: `Input should be ${known.map(name => `'${name}'`).join(' or ')}, with '-' before it for descending order`,
      type: 'literal_error',
      input: sort,
      ctx: { expected: known.join(', ') },
    },
  ])
}

/** Parses a comma-separated list; 422 for a word that is not in `known`. */
export function parseWords<W extends string>(
  text: string,
  known: readonly W[],
  field: string,
): W[] {
  const words = text.split(',').map(word => word.trim())
  const found = words.flatMap(word => known.find(one => one === word) ?? [])
  if (found.length === words.length) return found
  throw new Invalid([
    {
      loc: ['query', field],
      msg: `Input should be ${known.map(name => `'${name}'`).join(' or ')}`,
      type: 'literal_error',
      input: text,
      ctx: { expected: known.join(', ') },
    },
  ])
}

/** Parses a comma-separated list of names; commas and backslashes in names are escaped by a backslash. */
export function parseKeys(text: string, field: string, max: number): string[] {
  const keys = [...new Set(text.match(/(?:\\.|[^,\\])+/gs))].map(key =>
    key.replace(/\\(.)/gs, '$1'),
  )
  if (keys.length > 0 && keys.length <= max) return keys
  throw new Invalid([
    {
      loc: ['query', field],
      msg: `List should have 1 to ${max} items, not ${keys.length}`,
      type: keys.length === 0 ? 'too_short' : 'too_long',
      ctx: { min_length: 1, max_length: max, actual_length: keys.length },
    },
  ])
}
