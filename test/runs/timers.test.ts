import test from 'ava'
import { pino } from 'pino'
import { createFactAppends } from '../../command-api/commit/append-fact.ts'
import { commit } from '../../command-api/commit/commit.ts'
import { createReports } from '../../command-api/rules/admit-report.ts'
import { runDueTimers } from '../../command-api/runs/timers.ts'
import { runAt } from '../../events/runs.ts'
import { topicsOf } from '../../events/topics.ts'
import { createMemoryLog } from '../../platform/log/memory.ts'
import { createPresence } from '../../platform/presence.ts'
import { eventId } from '../../platform/time.ts'
import { eventStoreOn } from '../servers/event-store.ts'
import { database } from '../servers/postgres.ts'

test('while the log is down, the logs of ended runs wait together and all else continues; then all are closed', async t => {
  const { pool } = await database(t)
  let now = new Date('2026-11-20T12:00:00Z')
  await pool.query(
    `insert into write.run_state (run_id, owner, project, source, ended_at, end_state, eof_due_at)
     select 'run_' || n, 'ada', 'demo', 'external', $1, 'succeeded', $1 from generate_series(1, 5) n`,
    [now],
  )
  await pool.query(
    `insert into write.run_state (run_id, owner, project, source, last_report_at)
     values ('run_silent', 'ada', 'demo', 'external', $1::timestamptz - interval '2 days')`,
    [now],
  )
  const by = { type: 'user', id: 'ada', via: 'test' } as const
  const store = eventStoreOn(pool)
  const asking = { actor: by, requestId: 'r' }
  const run = { short_id: 'demo-1', project: 'demo', owner: 'ada', name: null, tags: [], notes: '' }
  await commit({ store, now: () => now }, asking, runAt('run_silent'), {
    decide: () => [{ type: 'run.created' as const, data: { run_id: 'run_silent', ...run } }],
  })
  const topics = topicsOf('test')
  const log = createMemoryLog(Object.values(topics))
  let asked = 0
  const append: typeof log.append = (...record) => {
    asked++
    return log.append(...record)
  }
  const deps = {
    pool,
    store,
    now: () => now,
    logger: pino({ level: 'silent' }),
    reports: createReports(pool, () => now),
    ...createFactAppends({ ...log, append }, eventId),
    topics,
  }
  const failures: unknown[] = []
  const [presence, hearing] = [createPresence(3_600_000), createPresence(150_000)]
  const failed = (error: unknown) => failures.push(error)
  const pass = () => runDueTimers(deps, { presence, hearing, failed })
  const states = async () => {
    const { rows } = await pool.query(
      `select count(eof_sent_at) as closed, count(*) filter (where end_state = 'abandoned') as abandoned
         from write.run_state`,
    )
    return rows[0]
  }
  log.setAvailable(false)
  await t.throwsAsync(pass(), { message: 'the log is not there' })
  t.is(asked, 1)
  t.deepEqual(await states(), { closed: 0, abandoned: 0 }, 'it had nobody to report to')
  for (let minute = 1; minute <= 60; minute++) {
    now = new Date(now.getTime() + 60_000)
    await t.throwsAsync(pass())
  }
  t.deepEqual(await states(), { closed: 0, abandoned: 1 })
  log.setAvailable(true)
  await pass()
  t.deepEqual(await states(), { closed: 5, abandoned: 1 })
  t.deepEqual(failures, [])
})
