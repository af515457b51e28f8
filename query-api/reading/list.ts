import { type AliasedRawBuilder, type Expression, type QueryExecutorProvider, sql } from 'kysely'
import { type TObject, type TSchema, Type } from 'typebox'
import type { CallerOf, Reach } from '../../auth/caller.ts'
import { type Route, route } from '../../auth/route.ts'
import type { Request } from '../../platform/http/route.ts'
import { Refusal, type RefusalCode } from '../../platform/refusal.ts'
import { countRows, pageHeaders } from './page.ts'

type Reader = 'person' | 'admin'
type Path = TObject | undefined
type Asked<C extends Reader, P, Q> = Request<CallerOf<C>, P, Q, undefined>

/** The common part of the three kinds of routes below; `S` is the source that the route reads from. */
type Read<C extends Reader, P extends Path, Q, S> = {
  path: string
  credential: C
  reach?: Reach
  tag: string
  summary: string
  params?: P
  query?: Q
  refusals?: readonly RefusalCode[]
  /**
   * Finds the source to read from on behalf of the caller, or refuses. `asCaller`, `ofRun`, `ofDeployment` and
   * `ofModel` combine this with the matching credential, reach and path.
   */
  of(request: Asked<C, P, Q>): S | Promise<S>
}

/** A query that has no columns yet. */
type Matching = {
  select(one: AliasedRawBuilder<number, 'one'>): { limit(count: number): Expression<unknown> }
}
type Ordered<R> = {
  limit(count: number): { offset(count: number): { execute(): Promise<R[]> } }
}

type ListOfRows<C extends Reader, P extends Path, Q extends TObject, S, M, R> = Read<C, P, Q, S> & {
  query: Q
  row: TSchema
  /** The rows that pass the filters; their number is `X-Total-Count`. */
  matching(scope: S, request: Asked<C, P, Q>): M
  /** Selects the columns and a total order; without one, pages would overlap. */
  select(matching: M, scope: S): Ordered<R>
  /** Converts the rows of a page to the response format. */
  shape(rows: R[], scope: S, request: Asked<C, P, Q>): unknown[] | Promise<unknown[]>
}

/** Declares a list of rows of the read models, in pages of 50 by default, with `X-Total-Count` and `Link`. */
export const list = <
  C extends Reader,
  P extends Path,
  Q extends TObject,
  S extends { db: QueryExecutorProvider },
  M extends Matching,
  R,
>({
  matching,
  select,
  shape,
  ...common
}: ListOfRows<C, P, Q, S, M, R>): Route =>
  pagedList({
    ...common,
    async read(scope, request, { limit, offset }) {
      const found = matching(scope, request)
      const rows = await select(found, scope).limit(limit).offset(offset).execute()
      const counted = await countRows(scope.db, found.select(sql<number>`1`.as('one')))
      return { rows: await shape(rows, scope, request), counted }
    },
  })

type Page = { limit: number; offset: number }
/** `counted` may be capped at 10,001; `mayEndEarly`: a page may be shorter than asked for although more follow. */
type PageRead = { rows: readonly unknown[]; counted: number; mayEndEarly?: boolean }

type PagedList<C extends Reader, P extends Path, Q extends TObject, S> = Read<C, P, Q, S> & {
  query: Q
  row: TSchema
  /** The rows of one page, in a total order. */
  read(scope: S, request: Asked<C, P, Q>, page: Page): Promise<PageRead>
}

/** Declares a list with custom reading and counting; it has the same pages and headers. */
export const pagedList = <C extends Reader, P extends Path, Q extends TObject, S>({
  of,
  row,
  read,
  ...common
}: PagedList<C, P, Q, S>): Route =>
  route<C, P, Q>({
    method: 'GET',
    ...common,
    response: Type.Array(row),
    async handle(request) {
      const { limit = 50, offset = 0 } = request.query as Partial<Page>
      const page = await read(await of(request), request, { limit, offset })
      const { rows, counted, mayEndEarly = false } = page
      pageHeaders(request.ctx, { limit, offset, shown: rows.length, mayEndEarly }, counted)
      return rows
    },
  })

type One<C extends Reader, P extends Path, Q extends TObject | undefined, S> = Read<C, P, Q, S> & {
  response: TSchema
  /** Undefined if there is no such record. */
  read(scope: S, request: Asked<C, P, Q>): Promise<unknown>
  /** The message of the 404. */
  missing?(params: Asked<C, P, Q>['params']): string
}

/** Declares the read of one record. */
export const one = <
  C extends Reader,
  P extends Path,
  Q extends TObject | undefined = undefined,
  S = unknown,
>({
  of,
  read,
  missing = () => 'No such record',
  ...common
}: One<C, P, Q, S>): Route =>
  route<C, P, Q>({
    method: 'GET',
    refusals: ['not_found'],
    ...common,
    async handle(request) {
      const found = await read(await of(request), request)
      if (found === undefined) throw new Refusal('not_found', missing(request.params))
      return found
    },
  })
