import test from 'ava'
import {
  abandonRun,
  deleteRun,
  purgeRun,
  reportLifecycle,
  restoreRun,
  stopRun,
} from '../../command-api/runs/decide.ts'
import { type Run, type RunEvent, type RunState, runs } from '../../events/runs.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { LifecycleReport } from '../../schemas/runs/runs.ts'

const run_id = 'run_1'
const reported_at = '2026-11-20T00:00:00+00:00'
const envelope = {
  occurred_at: '2026-11-20T00:00:01.000Z',
  actor: { type: 'run', id: run_id, via: 'ingest_token' },
} as const
const created: RunEvent = {
  type: 'run.created',
  data: { run_id, short_id: 'p-1', project: 'p', owner: 'alice', name: null, tags: [], notes: '' },
}
const started: RunEvent = { type: 'run.started', data: { run_id, reported_at } }
const succeeded: RunEvent = {
  type: 'run.succeeded',
  data: { run_id, reported_at, exit_code: null },
}
const failed: RunEvent = {
  type: 'run.failed',
  data: { run_id, reported_at, exit_code: null, message: null },
}
const abandoned: RunEvent = { type: 'run.abandoned', data: { run_id } }

const stopRequested: RunEvent = { type: 'run.stop_requested', data: { run_id, reason: null } }
const stopped: RunEvent = { type: 'run.stopped', data: { run_id, exit_code: null, reason: null } }

const after = (...events: RunEvent[]): Run =>
  events.map(event => ({ ...event, ...envelope })).reduce(runs.evolve, runs.initial)

const given: Record<RunState, Run> = {
  pending: after(created),
  running: after(created, started),
  succeeded: after(created, started, succeeded),
  failed: after(created, started, failed),
  stopped: after(created, started, stopRequested, stopped),
  abandoned: after(created, abandoned),
}

const table: Record<RunState, Record<LifecycleReport['event'], RunState>> = {
  pending: { starting: 'pending', running: 'running', succeeded: 'succeeded', failed: 'failed' },
  running: { starting: 'running', running: 'running', succeeded: 'succeeded', failed: 'failed' },
  succeeded: {
    starting: 'succeeded',
    running: 'succeeded',
    succeeded: 'succeeded',
    failed: 'succeeded',
  },
  failed: { starting: 'failed', running: 'failed', succeeded: 'failed', failed: 'failed' },
  stopped: { starting: 'stopped', running: 'stopped', succeeded: 'stopped', failed: 'stopped' },
  abandoned: {
    starting: 'abandoned',
    running: 'abandoned',
    succeeded: 'abandoned',
    failed: 'abandoned',
  },
}

for (const [state, row] of Object.entries(table))
  for (const [event, outcome] of Object.entries(row))
    test(`${event} reported when ${state}: ${outcome}`, t => {
      const run = given[state as RunState]
      const events = reportLifecycle(run, {
        run_id,
        event: event as LifecycleReport['event'],
        reported_at,
      })
      const next = events.map(decided => ({ ...decided, ...envelope })).reduce(runs.evolve, run)
      t.is(next.state, outcome)
      t.is(events.length, state === outcome ? 0 : 1)
    })

test('the first running report is the start, regardless of later reports', t => {
  t.is(given.running.started_at, envelope.occurred_at)
  t.deepEqual(reportLifecycle(given.running, { run_id, event: 'running', reported_at }), [])
})

test('a report on a run that does not exist is refused', t => {
  t.throws(() => reportLifecycle(runs.initial, { run_id, event: 'running', reported_at }), {
    instanceOf: Refusal,
    code: 'not_found',
  })
})

test('a silent run is abandoned once, an ended one never', t => {
  t.deepEqual(abandonRun(given.running, run_id), [abandoned])
  for (const state of ['succeeded', 'failed', 'abandoned'] as const)
    t.deepEqual(abandonRun(given[state], run_id), [])
})

const stop = (run: Run, force = false) => stopRun(run, { run_id, reason: 'enough', force })

test('a run asked to stop ends as stopped, whatever end its code reports', t => {
  const asked = after(created, started, stopRequested)
  t.is(asked.state, 'running', 'only its code can end it')
  for (const event of ['succeeded', 'failed'] as const) {
    const events = reportLifecycle(asked, { run_id, event, exit_code: 143, reported_at })
    t.deepEqual(events, [{ type: 'run.stopped', data: { run_id, exit_code: 143, reason: null } }])
  }
})

test('asking twice asks once; force ends the run at once; an ended run is a conflict', t => {
  const reason = 'enough'
  const running = after(created, started)
  t.deepEqual(stop(running), [{ type: 'run.stop_requested', data: { run_id, reason } }])
  t.deepEqual(stop(after(created, started, stopRequested)), [])
  const ends: RunEvent[] = [{ type: 'run.stopped', data: { run_id, exit_code: null, reason } }]
  t.deepEqual(stop(running, true), ends)
  t.deepEqual(stop(after(created, stopRequested), true), ends)
  t.throws(() => stop(given.succeeded), { instanceOf: Refusal, message: /already ended/ })
  t.throws(() => stop(runs.initial), { instanceOf: Refusal, message: /No such run/ })
})

test('a deletion becomes final once, unless it was undone or jobs refer to the run', t => {
  const restorable_until = '2026-12-20T00:00:00+00:00'
  const deletion: RunEvent = { type: 'run.deleted', data: { run_id, restorable_until } }
  const purge = (run: Run, references = 0, until = restorable_until) =>
    purgeRun(run, { run_id, restorable_until: until, references })
  const purged: RunEvent = { type: 'run.purged', data: { run_id, source: 'external' } }
  const postponed = (references: number): RunEvent => ({
    type: 'run.purge_postponed',
    data: { run_id, references },
  })
  const gone = after(created, succeeded, deletion)
  t.deepEqual(purge(gone), [purged])
  t.deepEqual(purge(after(created, succeeded, deletion, purged)), [])
  t.deepEqual(purge(after(created, succeeded)), [])
  t.deepEqual(purge(gone, 0, '2026-12-21T00:00:00+00:00'), [], 'another deletion has its own time')
  t.deepEqual(purge(gone, 2), [postponed(2)])
  const kept = after(created, succeeded, deletion, postponed(2))
  t.deepEqual(purge(kept, 2), [], 'reported once')
  t.deepEqual(purge(kept, 1), [postponed(1)])
  t.deepEqual(purge(kept), [purged])
  t.throws(() => restoreRun(after(created, deletion, purged), run_id, 0), {
    instanceOf: Refusal,
    message: /permanently deleted/,
  })
})

test('a deleted run can be restored for 30 days, and each of the two acts once', t => {
  const day = 86_400_000
  const now = Date.parse('2026-11-20T00:00:00Z')
  const [deleted, ...more] = deleteRun(after(created, succeeded), run_id, now)
  const restorable_until = '2026-12-20T00:00:00+00:00'
  t.deepEqual([deleted, ...more], [{ type: 'run.deleted', data: { run_id, restorable_until } }])
  const gone = after(created, succeeded, deleted as RunEvent)
  t.deepEqual(deleteRun(gone, run_id, now), [])
  const restored: RunEvent = { type: 'run.restored', data: { run_id } }
  t.deepEqual(restoreRun(gone, run_id, now + 30 * day), [restored])
  t.throws(() => restoreRun(gone, run_id, now + 30 * day + 1), {
    instanceOf: Refusal,
    message: new RegExp(restorable_until.replaceAll('+', '\\+')),
  })
  const back = after(created, succeeded, deleted as RunEvent, restored)
  t.like(back, { state: 'succeeded', deleted_at: null })
  t.deepEqual(restoreRun(back, run_id, now), [])
})
