import test from 'ava'
import { iconOf } from '../../clients/console/src/pages/run/icon.ts'
import {
  attemptStarts,
  type JobDetail,
  phasesOf,
  ranOf,
} from '../../clients/console/src/pages/run/phases.ts'
import {
  actions,
  isPossible,
  offered,
  stateAfter,
} from '../../clients/console/src/pages/run/rules.ts'
import type { RunRecord } from '../../clients/console/src/pages/run/use-run.ts'
import { lifecycle } from '../../command-api/jobs/lifecycle.ts'
import { jobStates } from '../../schemas/jobs/states.ts'

const running = { state: 'running', isJob: true, isDeleted: false, isArchived: false }

for (const action of ['stop', 'pause', 'resume'] as const)
  test(`a job can be asked to ${action} exactly where that changes something`, t => {
    for (const state of jobStates) {
      const outcome = lifecycle[state][action]
      const isOffered = isPossible(action, { ...running, state })
      t.is(isOffered, outcome !== 'conflict' && outcome !== 'same', state)
      if (isOffered) t.is(stateAfter(action, state), outcome as never, state)
    }
  })

test('at most two actions are buttons, all others that are possible are in the menu', t => {
  const states = [...jobStates, 'abandoned', 'pending']
  for (const state of states)
    for (const isJob of [true, false])
      for (const isArchived of [true, false]) {
        const now = { ...running, state, isJob, isArchived }
        const { first, others } = offered(now)
        t.true(first.length <= 2, state)
        const all = [...first, ...others]
        t.is(new Set(all).size, all.length, state)
        t.deepEqual(
          actions.filter(action => isPossible(action, now)),
          actions.filter(action => all.includes(action)),
        )
      }
  t.deepEqual(offered(running).first, ['pause', 'stop'])
  t.deepEqual(offered({ ...running, state: 'failed' }).first, ['retry', 'clone'])
  t.deepEqual(offered({ ...running, isJob: false }).first, ['stop'])
})

test('actions that need a job are not offered for other runs, and a deleted run can only be restored', t => {
  const run = { ...running, state: 'failed', isJob: false }
  const { first, others } = offered(run)
  t.deepEqual([...first, ...others], ['diagnose', 'tags', 'archive', 'delete'])
  t.true(offered({ ...run, isArchived: true }).others.includes('unarchive'))
  t.false(isPossible('diagnose', { ...run, state: 'succeeded' }))
  t.deepEqual(offered({ ...run, isDeleted: true }), { first: ['restore'], others: [] })
})

test('a job that is stopping can still be stopped by force', t => {
  const now = { ...running, state: 'stopping' }
  t.false(isPossible('stop', now))
  t.deepEqual(offered(now).first, ['forceStop'])
})

const at = (minute: number) => `2026-11-23T10:${String(minute).padStart(2, '0')}:00.000Z`
const run = {
  created_at: at(0),
  started_at: at(2),
  ended_at: at(5),
  duration_s: 180,
  state: 'failed',
} as RunRecord

test('a run without a job is pending, running and then in its end state', t => {
  t.deepEqual(
    phasesOf(run, null).map(({ name, seconds, isBilled }) => [name, seconds, isBilled]),
    [
      ['pending', 120, false],
      ['running', 180, false],
      ['failed', null, false],
    ],
  )
  const waiting = { ...run, started_at: null, ended_at: null, duration_s: null }
  t.deepEqual(phasesOf(waiting, null), [
    { name: 'pending', at: at(0), seconds: null, isBilled: false },
  ])
})

test('a job shows each change with its time, the phases of its start by name, and the billed time', t => {
  const transition = (to: string, spent_s: number | null, reason: string | null = null) => ({
    at: at(0),
    from: null,
    to,
    reason,
    spent_s,
    actor: 'x',
    event_id: 'x',
  })
  const job = {
    transitions: [
      transition('queued', 5, 'waiting_capacity'),
      transition('starting', 7, 'pulling_image'),
      transition('running', null),
    ],
  } as unknown as JobDetail
  t.deepEqual(
    phasesOf(run, job).map(({ name, seconds, isBilled }) => [name, seconds, isBilled]),
    [
      ['queued', 5, false],
      ['pulling_image', 7, false],
      ['running', null, true],
    ],
  )
})

test('time spent paused or waiting again does not count as running time', t => {
  const job = (
    running_s: number | null,
    ...changes: [minute: number, to: string, spent: number | null][]
  ) =>
    ({
      running_s,
      transitions: changes.map(([minute, to, spent_s]) => ({ at: at(minute), to, spent_s })),
    }) as unknown as JobDetail
  const going = { ...run, job_exists: true, ended_at: null }
  const first = [2, 'running', 60] as [number, string, number | null]
  const paused = job(61, first, [3, 'pausing', 1], [4, 'paused', null])
  t.deepEqual(ranOf(going, paused), { seconds: 61 })
  const again = job(180, first, [3, 'paused', 3000], [53, 'starting', 60], [54, 'running', null])
  t.deepEqual(ranOf(going, again), { from: at(53) })
  t.is(ranOf(going, null), null, 'the job is on its way')
  t.is(ranOf(going, job(null, [1, 'starting', null])), null)
  const other = { ...run, job_exists: false }
  t.deepEqual(ranOf(other, null), { seconds: 180 })
  t.deepEqual(ranOf({ ...other, ended_at: null }, null), { from: at(2) })
  t.is(ranOf({ ...other, started_at: null }, null), null)
})

test('the icon of a tab differs by state', t => {
  t.not(iconOf('running'), iconOf('failed'))
  t.true(iconOf('of another version').startsWith('data:image/svg+xml,'))
})

test('charts mark the attempts after the first, in the order of time', t => {
  const attempts = [at(4), at(1), null, at(3)].map(started_at => ({ started_at }))
  t.deepEqual(attemptStarts({ attempts: attempts as unknown as JobDetail['attempts'] }), [
    Date.parse(at(3)),
    Date.parse(at(4)),
  ])
})
