import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Pool } from 'pg'
import type { Person } from '../../auth/caller.ts'
import { containing } from '../../platform/search-text.ts'
import type { Found, FoundType } from '../../schemas/found.ts'
import type { Condition, RunSearch } from '../../schemas/runs/search.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { maxExactCount } from '../reading/page.ts'
import { matching, sign } from '../rules/search.ts'
import { type Kind, type KindTables, pathOf, type Row, rowsOf } from './kinds.ts'

export type Db = Kysely<KindTables>
export type Page = { limit: number; offset: number }

/** `projects`: the caller may read these, null for all. */
export type Asked = { caller: Person; projects: string[] | null; search: RunSearch | null }

/** One kind's part of a response. `counted`: 10,001 for more than 10,000. */
export type Part = { counted: number; results: Found[] }

/** The newest matches of this kind among the rows that the caller may read. */
export async function findKind(
  db: Db,
  { caller, search }: Asked,
  kind: Kind,
  page: Page,
): Promise<Part> {
  const { counted, rows } = await pageOf(rowsOf[kind](caller), search, page, query =>
    query.execute(db),
  )
  return { counted, results: rows.map(row => toFound(kind, row, pathOf[kind](row))) }
}

/** People: for administrators everybody, for others the people of the projects that they may read. */
export async function findPeople(
  on: { db: Db; pool: Pool },
  { caller, projects, search }: Asked,
  page: Page,
): Promise<Part> {
  const known = projects === null ? null : await peopleOf(on.db, caller, projects)
  const rows = sql`
    select p.username as ref, coalesce(nullif(p.display_name, '') || ' (' || p.username || ')', p.username) as name,
           p.username as owner, null::text as project, case when p.disabled then 'disabled' end as state, p.created_at,
           null::text as run, lower(p.username || e'\n' || coalesce(p.display_name, '')) as search
      from auth.person p
     where ${known}::text[] is null or not p.disabled and p.username = any(${known}::text[])`
  const found = await pageOf(rows, search, page, async query => {
    const { sql: text, parameters } = query.compile(on.db)
    return on.pool.query(text, [...parameters])
  })
  const pathOfPerson = ({ ref }: Row) => `/runs?q=${encodeURIComponent(`owner:"${ref}"`)}`
  return {
    counted: found.counted,
    results: found.rows.map(row => toFound('person', row, pathOfPerson(row))),
  }
}

async function peopleOf(db: Db, caller: Person, projects: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ username: string }>`
    select owner as username from projects where name = any(${projects}::text[])
    union select username from project_people where project = any(${projects}::text[])
    union select ${caller.username}`.execute(db)
  return rows.map(({ username }) => username)
}

type Counted = Row & { counted: number }

async function pageOf(
  rows: RawBuilder<unknown>,
  search: RunSearch | null,
  { limit, offset }: Page,
  run: (query: RawBuilder<Counted>) => Promise<{ rows: Counted[] }>,
): Promise<{ counted: number; rows: Row[] }> {
  const matched = sql`select * from (${rows}) thing where ${search === null ? sql`true` : matching(search, matchOne)}`
  const found = await run(sql<Counted>`
    with matched as materialized (${matched}),
         counted as (select count(*)::integer as counted from (select from matched limit ${maxExactCount + 1}) upto)
    select ref, name, owner, project, state, created_at, run, counted
      from counted left join lateral (
        select * from matched order by created_at desc, ref limit ${limit} offset ${offset}) shown on true`)
  const [first] = found.rows
  // Without a row on this page, the join leaves one of nulls.
  return { counted: first?.counted ?? 0, rows: found.rows.filter(({ ref }) => ref !== null) }
}

/** A condition on what this kind does not have matches nothing. */
function matchOne(condition: Condition): RawBuilder<SqlBool> {
  if (condition.kind === 'word') return sql`thing.search like ${containing(condition.text)}`
  if (condition.kind === 'time' && condition.field === 'created')
    return sql`thing.created_at ${sign(condition.op)} ${new Date(condition.at)}::timestamptz`
  if (condition.kind !== 'field') return sql`false`
  const { field, op, value } = condition
  if (field !== 'name' && field !== 'owner' && field !== 'project' && field !== 'state')
    return sql`false`
  return sql`${sql.ref(`thing.${field}`)} ${sign(op)} ${value}`
}

const toFound = (type: FoundType, { run: _, created_at, ...row }: Row, path: string): Found => ({
  type,
  ref: row.ref,
  name: row.name,
  owner: row.owner,
  project: row.project,
  state: row.state,
  created_at: toTimestamp(created_at),
  path,
})
