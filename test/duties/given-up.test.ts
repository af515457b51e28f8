import test, { type ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { commit } from '../../command-api/commit/commit.ts'
import { reactors } from '../../command-api/compose.ts'
import type { Deps } from '../../command-api/deps.ts'
import { startDuties } from '../../command-api/duties/runner.ts'
import { saveImport } from '../../command-api/hub-imports/rows.ts'
import { insertJudging } from '../../command-api/rubrics/judging/rows.ts'
import { type DatasetEvent, datasetAt } from '../../events/datasets.ts'
import { type DutyEvent, duties } from '../../events/duties.ts'
import { type HubImportEvent, hubImportAt } from '../../events/hub-imports.ts'
import { type JudgingEvent, judgingAt } from '../../events/judgings.ts'
import { silent, storeWith } from '../command-api/duty-store.ts'
import { golden } from '../events/golden.ts'
import { database } from '../servers/postgres.ts'
import { until } from '../servers/until.ts'

const cause = { actor: { type: 'user', id: 'ada', via: 'password' } as const, requestId: 'req_1' }
const names = ['validate-datasets', 'import-models', 'judge-samples']

/** The recorded event of a type. */
function recorded<E extends { type: string }>(type: E['type']): E {
  const found = golden.find(one => one.recorded.type === type)
  if (!found) throw new Error(`no ${type} was recorded`)
  const { data } = found.recorded
  return { type, data } as unknown as E
}
type Of<E extends { type: string }, T extends E['type']> = Extract<E, { type: T }>

/** A version to validate, an import and a judging, all of which have their duties and are never performed. */
async function begun(t: ExecutionContext) {
  const { pool } = await database(t)
  const now = () => new Date('2026-11-28T12:00:00Z')
  const own = reactors.filter(({ name }) => [...names, 'end-dropped-duties'].includes(name))
  const deps = { pool, now, logger: silent, store: storeWith(pool, own as never) }
  const created = recorded<Of<DatasetEvent, 'dataset.created'>>('dataset.created')
  const made = recorded<Of<DatasetEvent, 'dataset.version_created'>>('dataset.version_created')
  const imported = recorded<Of<HubImportEvent, 'hub.import_requested'>>('hub.import_requested')
  const judged = recorded<Of<JudgingEvent, 'judging.requested'>>('judging.requested')
  await commit(deps, cause, datasetAt(made.data), { decide: () => [created, made] })
  await commit(deps, cause, hubImportAt(imported.data), {
    decide: () => [imported],
    alongside: saveImport,
  })
  await commit(deps, cause, judgingAt(judged.data.judging_id), {
    decide: () => [judged],
    alongside: tx => insertJudging(tx, judged.data, now()),
  })
  const ends = async () => {
    const { rows } = await pool.query<{ type: string; data: { state?: string; reason?: string } }>(
      `select type, data from write.event
        where type in ('dataset.validated', 'hub.import_failed', 'judging.ended') order by type`,
    )
    return rows
  }
  const start = () => {
    const running = startDuties<Deps>({
      ...{ pool, now, store: deps.store, logger: silent, random: () => 0.5, pollMs: 20 },
      reactors: own,
      // What gives up needs nothing else.
      work: deps as unknown as Deps,
    })
    t.teardown(() => running.stop())
  }
  return { pool, deps, ends, start }
}

async function checkEnds(t: ExecutionContext, pool: Pool, ends: Ends): Promise<void> {
  const all = await until('all three have ended', 20_000, async () => {
    const rows = await ends()
    return rows.length === 3 && rows
  })
  t.like(all, [
    { type: 'dataset.validated', data: { state: 'invalid', report: { error_count: 1 } } },
    { type: 'hub.import_failed' },
    { type: 'judging.ended', data: { state: 'failed' } },
  ])
  t.regex(String(all[1]?.data.reason), /failed on this server/)
  t.regex(String(all[2]?.data.reason), /internal fault/)
  const { rows } = await pool.query(
    `select state from write.judging union all select state from write.hub_import`,
  )
  t.deepEqual(rows, [{ state: 'failed' }, { state: 'failed' }])
}
type Ends = Awaited<ReturnType<typeof begun>>['ends']

test('a validation, an import and a judging whose every attempt ended with its process end as failed', async t => {
  const { pool, ends, start } = await begun(t)
  await pool.query('update write.duty set attempts = 99')
  start()
  await checkEnds(t, pool, ends)
  const { rows } = await pool.query('select distinct parked_at is null as is_open from write.duty')
  t.deepEqual(rows, [{ is_open: false }], 'the duties stay visible to operators')
})

test('they end as failed if an administrator drops their duties', async t => {
  const { pool, deps, ends, start } = await begun(t)
  const { rows } = await pool.query<{ duty_id: string; reactor: string; cause: string }>(
    `update write.duty set done_at = now(), dropped = true returning duty_id, reactor, cause`,
  )
  t.is(rows.length, 3)
  for (const { duty_id, reactor, cause: of } of rows)
    await commit(deps, cause, duties.at(duty_id), {
      decide: (): DutyEvent[] => [{ type: 'duty.dropped', data: { duty_id, reactor, cause: of } }],
    })
  start()
  await checkEnds(t, pool, ends)
})
