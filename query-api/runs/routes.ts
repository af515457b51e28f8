import { type Kysely, type SqlBool, sql } from 'kysely'
import { type Route, route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Clock } from '../../platform/time.ts'
import type { ChangeTables } from '../../projector/changes/table.ts'
import type { HparamTables } from '../../projector/hparams/table.ts'
import type { JobTables } from '../../projector/jobs/table.ts'
import { comparedRuns, compareQuery, comparison } from '../../schemas/runs/compare.ts'
import { lineage } from '../../schemas/runs/lineage.ts'
import {
  maxAskedKeys,
  type RunRow,
  runListQuery,
  runQuery,
  runRecord,
  runRow,
} from '../../schemas/runs/records.ts'
import { one, pagedList } from '../reading/list.ts'
import { parseKeys } from '../reading/page.ts'
import { asCaller, type Reads } from '../reading/reads.ts'
import {
  type AccessTables,
  findDeletedRun,
  findRun,
  findRunsById,
  ofRun,
  readableProjects,
} from '../rules/access.ts'
import { setCursor } from '../rules/newest-change.ts'
import { readSearch } from '../rules/search.ts'
import { parseMetricSort } from './by-metric.ts'
import { compareRuns, parseIds } from './compare.ts'
import { readEnd } from './end.ts'
import { findRuns } from './found.ts'
import { readLineage } from './lineage.ts'
import { pageOfRuns } from './list.ts'
import { namesRoutes } from './names.ts'
import { type RecordTables, readRecords } from './record.ts'

export type Tables = AccessTables & ChangeTables & HparamTables & JobTables & RecordTables

export const runRoutes = (reads: Reads<Tables>, now: Clock): Route[] => [
  pagedList({
    ...asCaller(reads),
    path: '/api/runs',
    tag: 'runs',
    summary: 'List the runs one may read, newest first',
    query: runListQuery,
    row: runRow,
    async read({ db }, { caller, query, ctx }, { limit, offset }) {
      const { sort = '-created_at' } = query
      await setCursor(ctx, db)
      const readable = { projects: await readableProjects(db, caller), caller }
      const search = readSearch(query.q)
      const found = await findRuns(db, { readable, filter: query, search, sort })
      const page = await pageOfRuns(db, found, sort, { limit, offset })
      const runIds = page.map(run => run.run_id)
      const ofPage = reads.as(caller, runIds)
      const rows = await readRecords(ofPage, page, {
        caller,
        now: now(),
        metrics: { pinned: pinnedOf(query.metrics, sort) },
      })
      return { rows: await withHparams(ofPage, rows, query.hparams), counted: found.counted }
    },
  }),
  ...namesRoutes(reads),
  compareRoute(reads),
  lineageRoute(reads),
  one({
    ...ofRun(reads),
    path: '/api/runs/{run_id}',
    tag: 'runs',
    summary: 'Read a run, or a deleted one that one may restore',
    query: runQuery,
    response: runRecord,
    of: ({ caller, params, query }) =>
      (query.deleted ? findDeletedRun : findRun)(reads, caller, params.run_id),
    async read({ run_id, db }, { caller }) {
      const run = await db
        .selectFrom('runs')
        .selectAll()
        .where('run_id', '=', run_id)
        .executeTakeFirstOrThrow()
      const [record] = await readRecords(db, [run], { caller, now: now(), metrics: 'all' })
      const hparams = await db
        .selectFrom('run_hparams')
        .select('params')
        .where('run_id', '=', run_id)
        .executeTakeFirst()
      const labels = await db
        .selectFrom('run_labels')
        .select(['key', 'value'])
        .where('run_id', '=', run_id)
        .orderBy(sql`key collate "C"`)
        .execute()
      const end = await readEnd(db, run)
      return {
        ...record,
        hparams: hparams?.params ?? {},
        labels: Object.fromEntries(labels.map(({ key, value }) => [key, value])),
        ...end,
      }
    },
  }),
]

const pinnedOf = (metrics: string | undefined, sort: string): string[] => [
  ...(parseMetricSort(sort) ? [String(parseMetricSort(sort)?.key)] : []),
  ...(metrics === undefined ? [] : parseKeys(metrics, 'metrics', maxAskedKeys)),
]

async function withHparams(
  db: Kysely<HparamTables>,
  rows: RunRow[],
  asked: string | undefined,
): Promise<RunRow[]> {
  if (asked === undefined) return rows
  const keys = parseKeys(asked, 'hparams', maxAskedKeys)
  const runIds = rows.map(row => row.run_id)
  const found = await sql<{ run_id: string; params: RunRow['hparams'] }>`
    select h.run_id, jsonb_object_agg(p.key, p.value) as params
      from run_hparams h, jsonb_each(h.params) p
     where h.run_id = any(${runIds}) and p.key = any(${keys}) group by h.run_id`.execute(db)
  const ofRuns = new Map(found.rows.map(row => [row.run_id, row.params]))
  return rows.map(row => ({ ...row, hparams: ofRuns.get(row.run_id) ?? {} }))
}

const lineageRoute = (reads: Reads<Tables>): Route =>
  one({
    ...ofRun(reads),
    path: '/api/runs/{run_id}/lineage',
    tag: 'runs',
    summary: 'What a run came from, and what came from it',
    response: lineage,
    read: ({ run_id }, { caller }) => readLineage(reads.as(caller), run_id),
  })

const compareRoute = (reads: Reads<Tables>): Route =>
  route({
    method: 'GET',
    path: '/api/runs/compare',
    credential: 'person',
    reach: 'its_people',
    tag: 'runs',
    summary: 'Compare 2 to 200 runs: what differs, and their common metrics',
    query: compareQuery,
    response: comparison,
    refusals: ['not_found'],
    async handle({ caller, query }) {
      const isSkipping = query.missing === 'skip'
      const ids = parseIds(query.ids)
      const known = await findRunsById(reads, caller, ids)
      const missing = ids.filter(id => !known.has(id))
      if (missing.length > 0 && !isSkipping)
        throw new Refusal('not_found', `No such run: ${missing[0]}`)
      const found = ids.flatMap(id => known.get(id) ?? [])
      const runIds = isSkipping ? [...new Set(found)] : found
      if (runIds.length < comparedRuns.least)
        throw new Refusal(
          'not_found',
          `Too few of the runs exist; not found: ${missing.join(', ')}`,
        )
      const db = reads.as(caller, runIds)
      const rows = await db
        .selectFrom('runs')
        .selectAll()
        .where(sql<SqlBool>`run_id = any(${runIds})`)
        .execute()
      const byId = new Map(rows.map(run => [run.run_id, run]))
      const runs = runIds.flatMap(id => byId.get(id) ?? [])
      return { missing, ...(await compareRuns(db, runs, query.rows === 'all')) }
    },
  })
