import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { Route } from '../../auth/route.ts'
import type { Clock } from '../../platform/time.ts'
import type { DiagnosisTables } from '../../projector/diagnoses/table.ts'
import {
  type FingerprintListQuery,
  type FingerprintRow,
  fingerprintListQuery,
  fingerprintRow,
} from '../../schemas/diagnoses.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { pagedList } from '../reading/list.ts'
import { asCaller, type Reads } from '../reading/reads.ts'
import { type AccessTables, mayReadRun } from '../rules/access.ts'
import { daysOf, type Window, windowOf } from './window.ts'

type Tables = DiagnosisTables & AccessTables

export const fingerprintRoute = (reads: Reads<Tables>, now: Clock): Route =>
  pagedList({
    ...asCaller(reads),
    path: '/api/diagnoses/fingerprints',
    tag: 'diagnoses',
    summary:
      'The most frequent failures and their trend: failed runs by the fingerprint of their diagnosis',
    query: fingerprintListQuery,
    row: fingerprintRow,
    async read({ db }, { caller, query }, page) {
      const window = windowOf(query.since, now())
      return readFingerprints(db, { caller, query, window, ...page })
    },
  })

type Asked = {
  caller: Person
  query: FingerprintListQuery
  window: Window
  limit: number
  offset: number
}

type Counts = Pick<
  FingerprintRow,
  | 'fingerprint'
  | 'title'
  | 'category'
  | 'blame'
  | 'count'
  | 'previous_count'
  | 'projects'
  | 'owners'
>
type Found = Counts & {
  first_seen: Date
  last_seen: Date
  days: Record<string, number> | null
  runs: FingerprintRow['runs']
}

const shownRuns = 5
const yearMs = 365 * 86_400_000

/** One statement: the failures of both windows are read once, and all figures agree. */
async function readFingerprints(
  db: Kysely<Tables>,
  { caller, query, window, limit, offset }: Asked,
): Promise<{ rows: FingerprintRow[]; counted: number }> {
  const yearAgo = new Date(window.until.getTime() - yearMs)
  const { rows } = await sql<{ counted: number } & (Found | { fingerprint: null })>`
    with failures as materialized (
      select distinct on (d.run_id) d.run_id, d.fingerprint, d.diagnosis_id,
             r.short_id, r.project, r.owner, r.ended_at
        from ${failedRuns(caller, query)} and d.created_at >= ${window.before} and r.ended_at >= ${window.before}
       order by d.run_id, d.diagnosis_id desc
    ), groups as (
      select fingerprint,
             count(*) filter (where ended_at >= ${window.since})::integer as count,
             count(*) filter (where ended_at < ${window.since})::integer as previous_count,
             count(distinct project) filter (where ended_at >= ${window.since})::integer as projects,
             count(distinct owner) filter (where ended_at >= ${window.since})::integer as owners,
             min(ended_at) as first_ended, max(ended_at) as last_seen,
             (array_agg(diagnosis_id order by ended_at desc, diagnosis_id desc))[1] as newest
        from failures group by fingerprint
    ), found as (
      select g.*, d.verdict ->> 'title' as title, d.verdict ->> 'category' as category,
             d.verdict ->> 'blame' as blame
        from groups g join diagnoses d on d.diagnosis_id = g.newest
       where g.count > 0 and (${query.category ?? null}::text is null or d.verdict ->> 'category' = ${query.category ?? null})
    ), page as (
      select * from found order by count desc, last_seen desc, fingerprint
       limit ${limit} offset ${offset}
    )
    select (select count(*) from found)::integer as counted, page.*,
           (select jsonb_object_agg(day, ended)
              from (select to_char(ended_at at time zone 'UTC', 'YYYY-MM-DD') as day, count(*) as ended
                      from failures f
                     where f.fingerprint = page.fingerprint and f.ended_at >= ${window.daysFrom}
                     group by 1) by_day) as days,
           (select jsonb_agg(to_jsonb(newest_runs) order by ended_at desc, run_id desc)
              from (select run_id, short_id, project, owner, ended_at
                      from failures f
                     where f.fingerprint = page.fingerprint and f.ended_at >= ${window.since}
                     order by ended_at desc, run_id desc limit ${shownRuns}) newest_runs) as runs,
           least(page.first_ended,
                 (select r.ended_at from ${failedRuns(caller, query)}
                     and d.fingerprint = page.fingerprint and d.created_at >= ${yearAgo}
                   order by d.created_at limit 1)) as first_seen
      from (select) always left join page on true
     order by count desc, last_seen desc, fingerprint`.execute(db)
  return {
    rows: rows.flatMap(row => (row.fingerprint === null ? [] : toRow(row, window))),
    counted: rows[0]?.counted ?? 0,
  }
}

/** Diagnoses of runs that ended without success. A stopped run without a finding did not fail. */
const failedRuns = (
  caller: Person,
  { project, owner }: FingerprintListQuery,
): RawBuilder<unknown> => sql`
  diagnoses d join runs r on r.run_id = d.run_id
   where d.fingerprint is not null and r.deleted_at is null
     and r.ended_at is not null and r.state <> 'succeeded'
     and (r.state = 'failed' or d.verdict ->> 'category' <> 'unknown')
     and (${project ?? null}::text is null or r.project = ${project ?? null})
     and (${owner ?? null}::text is null or r.owner = ${owner ?? null}) and ${mayReadRun(caller)}`

function toRow({ days, first_seen, last_seen, runs, ...row }: Found, window: Window) {
  const { fingerprint, title, category, blame, count, previous_count, projects, owners } = row
  return {
    ...{ fingerprint, title, category, blame, count, previous_count },
    trend: trendOf(row, first_seen >= window.since),
    ...{ projects, owners },
    first_seen: toTimestamp(first_seen),
    last_seen: toTimestamp(last_seen),
    daily: daysOf(window).map(day => ({ day, count: days?.[day] ?? 0 })),
    runs: runs.map(run => ({ ...run, ended_at: toTimestamp(new Date(run.ended_at)) })),
  }
}

function trendOf({ count, previous_count }: Counts, isNew: boolean): FingerprintRow['trend'] {
  if (isNew) return 'new'
  if (count === previous_count) return 'same'
  return count > previous_count ? 'up' : 'down'
}
