import { type Route, route } from '../../auth/route.ts'
import type { Clock } from '../../platform/time.ts'
import type { ChangeTables } from '../../projector/changes/table.ts'
import type { HparamTables } from '../../projector/hparams/table.ts'
import { runListQuery, runRecord, runRow } from '../../schemas/run-records.ts'
import { runIdInPath } from '../../schemas/shared.ts'
import { type AccessTables, findRun, readableProjects } from '../access.ts'
import { listRoute } from '../list-route.ts'
import { setCursor } from '../newest-change.ts'
import { countRows } from '../page.ts'
import type { Reads } from '../reads.ts'
import { parseMetricSort } from './by-metric.ts'
import { readEnd } from './end.ts'
import { filteredRuns, pageOfRuns } from './list.ts'
import { type RecordTables, readRecords } from './record.ts'

type Tables = AccessTables & ChangeTables & HparamTables & RecordTables

export const runRoutes = (reads: Reads<Tables>, now: Clock): Route[] => [
  listRoute({
    path: '/api/runs',
    credential: 'person',
    tag: 'runs',
    summary: 'List the runs one may read, the newest first',
    query: runListQuery,
    row: runRow,
    async read({ caller, query, ctx }, { limit, offset }) {
      const { sort = '-created_at' } = query
      const db = reads.as(caller)
      await setCursor(ctx, db)
      const readable = { projects: await readableProjects(db, caller), caller }
      const runs = filteredRuns(db, readable, query)
      const counted = await countRows(db, runs.select('runs.run_id'))
      const page = await pageOfRuns(db, runs, sort, { limit, offset, counted })
      const runIds = page.map(run => run.run_id)
      const rows = await readRecords(reads.as(caller, runIds), page, {
        caller,
        now: now(),
        metrics: { pinned: parseMetricSort(sort)?.key ?? null },
      })
      return { rows, counted }
    },
  }),
  route({
    method: 'GET',
    path: '/api/runs/{run_id}',
    credential: 'person',
    reach: 'its_people',
    tag: 'runs',
    summary: 'Read a run',
    params: runIdInPath,
    response: runRecord,
    refusals: ['not_found'],
    async handle({ caller, params }) {
      const { run_id, db } = await findRun(reads, caller, params.run_id)
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
      const end = await readEnd(db, run)
      return { ...record, hparams: hparams?.params ?? {}, ...end }
    },
  }),
]
