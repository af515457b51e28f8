import test from 'ava'
import { eventsWith, pastOf } from '../../clients/console/src/pages/run/events/past.ts'
import { jobs } from '../../events/job-state.ts'
import { jobEvents } from '../../events/jobs.ts'
import { runs } from '../../events/runs.ts'
import type { RunEvent } from '../../schemas/runs/events.ts'

let position = 0
const happened = (type: string, facts: RunEvent['facts'] = {}): RunEvent => ({
  position: ++position,
  type,
  at: `2026-11-20T12:00:${String(position % 60).padStart(2, '0')}.000+00:00`,
  actor: { type: 'user', id: 'ada' },
  summary: `ada caused ${type}`,
  facts,
})

/** The state in the server's own fold, from the same event. */
const folded = (type: string): string | null => {
  const aggregate = type.startsWith('job.') ? jobs : runs
  const data = { spec: { spec: { limits: {}, retry: {} } }, nodes: [], attempt: 1 }
  const stamped = { type, data, occurred_at: '', actor: { type: 'user', id: '', via: '' } }
  const evolve = aggregate.evolve as (state: object, event: object) => { state: string | null }
  return evolve({ ...aggregate.initial, state: null }, stamped).state
}

test('an event leads to the same state as on the server', t => {
  const types = [...jobEvents, ...runs.events].map(({ type }) => type)
  t.true(types.length > 30)
  for (const type of types)
    if (type !== 'job.exited') t.is(pastOf([happened(type)]).state, folded(type), type)
})

test('the past state of a run follows from its events up to then', t => {
  const events = [
    happened('job.admitted', { name: 'first', tags: ['a'], priority: 0 }),
    happened('job.queued', { reason: 'waiting_capacity', not_before: null }),
    happened('job.priority_changed', { priority: 5, before: 0 }),
    happened('job.scheduled', { attempt: 1, executor: 'local', nodes: ['n1', 'n2'] }),
    happened('job.running', { attempt: 1 }),
    happened('artifact.registered', { artifact_id: 'art_1' }),
    happened('alert.fired', { alert_id: 'alr_1', lasting: true }),
    happened('job.tagged', { tags: ['a', 'b'] }),
    happened('job.stop_requested', {
      ...{ attempt: 1, reason: 'user', message: 'enough' },
      deadline: '2026-11-20T13:00:00+00:00',
    }),
    happened('alert.resolved', { alert_id: 'alr_1' }),
    happened('job.stopped', { attempt: 1, reason: 'user', message: null, exit_code: 143 }),
    happened('run.deleted'),
  ]
  t.like(pastOf(events.slice(0, 2)), {
    ...{ state: 'queued', reason: 'waiting_capacity', attempt: null, priority: 0 },
    ...{ name: 'first', tags: ['a'], place: null },
  })
  t.like(pastOf(events.slice(0, 7)), {
    ...{ state: 'running', since: events[4]?.at, attempt: 1, priority: 5 },
    ...{ place: 'local · n1, n2', openAlerts: 1, artifacts: 1, tags: ['a'] },
  })
  t.like(pastOf(events.slice(0, 9)), {
    ...{ state: 'stopping', reason: 'enough', deadline: '2026-11-20T13:00:00+00:00' },
    ...{ tags: ['a', 'b'], exitCode: null, openAlerts: 1 },
  })
  t.like(pastOf(events), {
    ...{ state: 'stopped', reason: 'user', exitCode: 143, openAlerts: 0, isDeleted: true },
    ...{ deadline: null, name: 'first' },
  })
  t.like(pastOf([]), { state: null, tags: [] })
})

test('events are found by words of their sentence or type', t => {
  const events = [happened('job.queued'), happened('job.running')]
  t.deepEqual(eventsWith(events, ' QUEUED '), [events[0]])
  t.is(eventsWith(events, '').length, 2)
})
