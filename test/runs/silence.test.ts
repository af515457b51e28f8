import test, { type ExecutionContext } from 'ava'
import { pino } from 'pino'
import { createFactAppends } from '../../command-api/commit/append-fact.ts'
import { commit } from '../../command-api/commit/commit.ts'
import { createReports } from '../../command-api/rules/admit-report.ts'
import { endRun } from '../../command-api/runs/report.ts'
import { runDueTimers } from '../../command-api/runs/timers.ts'
import { runAt } from '../../events/runs.ts'
import { topicsOf } from '../../events/topics.ts'
import { createMemoryLog } from '../../platform/log/memory.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { createPresence } from '../../platform/presence.ts'
import { eventId } from '../../platform/time.ts'
import { eventStoreOn } from '../servers/event-store.ts'
import { database } from '../servers/postgres.ts'

/** Two runs without a job, which have just reported, and the timers of a server. */
async function twoRuns(t: ExecutionContext) {
  const { pool } = await database(t)
  let now = new Date('2026-11-20T12:00:00Z')
  const store = eventStoreOn(pool)
  const asking = { actor: { type: 'user', id: 'ada', via: 'test' }, requestId: 'r' } as const
  for (const run_id of ['run_1', 'run_2']) {
    await pool.query(
      `insert into write.run_state (run_id, short_id, owner, project, source, last_report_at)
       values ($1, $1, 'ada', 'demo', 'external', $2)`,
      [run_id, now],
    )
    const named = {
      short_id: run_id,
      project: 'demo',
      owner: 'ada',
      name: null,
      tags: [],
      notes: '',
    }
    await commit({ store, now: () => now }, asking, runAt(run_id), {
      decide: () => [{ type: 'run.created' as const, data: { run_id, ...named } }],
    })
  }
  const topics = topicsOf('test')
  const reports = createReports(pool, () => now)
  const deps = {
    ...{ pool, store, reports, topics },
    now: () => now,
    logger: pino({ level: 'silent' }),
    ...createFactAppends(createMemoryLog(Object.values(topics)), eventId),
  }
  const presence = createPresence(Number.POSITIVE_INFINITY)
  const hearing = createPresence(150_000)
  const failed = (error: unknown) => {
    throw error
  }
  const passes = { presence, hearing, failed }
  const report = (runId: string) =>
    reports.admit({
      caller: { kind: 'run', runId, tokenId: 't' },
      body: { run_id: runId },
      ctx: { set: () => {} },
    })
  /** Lets seconds pass, in which these runs report every ten seconds. */
  const later = async (seconds: number, reporting: readonly string[] = []) => {
    for (const end = now.getTime() + seconds * 1000; now.getTime() < end; ) {
      now = new Date(now.getTime() + 10_000)
      for (const runId of reporting) await report(runId)
      await runDueTimers(deps, passes)
    }
  }
  const events = async () => {
    const { rows } = await pool.query(
      `select type, data ->> 'run_id' as run_id, data ->> 'silent_since' as since from write.event
        where type in ('run.silent', 'run.heard') order by position`,
    )
    return rows.map(({ type, run_id, since }) =>
      [type, run_id, ...(since ? [since] : [])].join(' '),
    )
  }
  return { pool, later, events, hearing }
}

test('an external run is silent two minutes after its last report, once, and no longer when it reports again', async t => {
  const { later, events } = await twoRuns(t)
  await later(180, ['run_1', 'run_2'])
  t.deepEqual(await events(), [])
  await later(120, ['run_2'])
  t.deepEqual(await events(), [], 'the last report is known to half a minute')
  await later(40, ['run_2'])
  const [silent = ''] = await events()
  t.regex(silent, /^run\.silent run_1 2026-11-20T12:0(2:[3-5]|3:0)/)
  await later(600, ['run_2'])
  t.deepEqual(await events(), [silent])
  await later(10, ['run_1', 'run_2'])
  t.deepEqual(await events(), [silent, 'run.heard run_1'])
  await later(160, ['run_2'])
  t.is((await events()).length, 3, 'and silent again')
})

test('a run that ended is not silent, nor is any run while the server could hear nobody', async t => {
  const { pool, later, events, hearing } = await twoRuns(t)
  await later(180, ['run_1', 'run_2'])
  await pool.query("update write.run_state set ended_at = last_report_at where run_id = 'run_1'")
  hearing.interrupt()
  await later(140)
  t.deepEqual(await events(), [])
  await later(20)
  t.deepEqual(
    (await events()).map(event => event.slice(0, 16)),
    ['run.silent run_2'],
  )
})

test('a silent run whose next report is its end is silent no longer', async t => {
  const { pool, later } = await twoRuns(t)
  await later(300)
  const silent = async () => {
    const { rows } = await pool.query(
      'select run_id from write.run_state where silent_since is not null order by run_id',
    )
    return rows.map(({ run_id }) => run_id)
  }
  t.deepEqual(await silent(), ['run_1', 'run_2'])
  await inTransaction(pool, tx => endRun(tx, 'run_1', 'failed', new Date('2026-11-20T12:06:00Z')))
  t.deepEqual(await silent(), ['run_2'])
})

test('the silences of a run that reports rarely are noted ever later', async t => {
  const { later, events } = await twoRuns(t)
  await later(180, ['run_1', 'run_2'])
  for (let nth = 0; nth < 40; nth++) {
    await later(190, ['run_2'])
    await later(10, ['run_1', 'run_2'])
  }
  const noted = (await events()).filter(event => event.startsWith('run.silent run_1'))
  t.is(noted.length, 5, 'the sixth would take five minutes')
  await later(3 * 3600, ['run_2'])
  const all = (await events()).filter(event => event.startsWith('run.silent run_1'))
  t.is(all.length, 6)
})
