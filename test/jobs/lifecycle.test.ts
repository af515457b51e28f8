import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { assumeSucceeded } from '../../command-api/jobs/attempt-end.ts'
import {
  admit,
  holdForApproval,
  limit,
  pause,
  pendingTimeout,
  queue,
  resume,
  stop,
} from '../../command-api/jobs/decide.ts'
import {
  lifecycle,
  type Outcome,
  type Trigger,
  triggers,
} from '../../command-api/jobs/lifecycle.ts'
import { type Job, jobs } from '../../events/job-state.ts'
import type { JobEvent } from '../../events/jobs.ts'
import { Refusal } from '../../platform/refusal.ts'
import { type JobState, jobStates } from '../../schemas/jobs/states.ts'
import {
  admitted,
  admittedJob,
  after,
  asked,
  at,
  ended,
  executorMarked,
  exitedZero,
  reported,
  scheduled,
  stampedAt,
} from './given.ts'

const retries = { retry: { max_attempts: 2, backoff_s: 0 } }
const stopping = (job: Job) => stop(job, asked)
const pausing = (job: Job) => pause(job, asked)
const held = (job: Job) => admit(job, admittedJob(retries), { reason: 'not_before', until: null })
const toRunning = [admitted(retries), scheduled, executorMarked(), reported('running')]

/** A job in each state, by the shortest path. */
const given: Record<JobState, Job> = {
  admitted: { ...after(admitted(retries)), state: 'admitted' },
  held: after(held),
  queued: after(admitted(retries)),
  scheduled: after(admitted(retries), scheduled),
  starting: after(admitted(retries), scheduled, executorMarked()),
  running: after(...toRunning),
  pausing: after(...toRunning, pausing),
  paused: after(...toRunning, pausing, ended()),
  stopping: after(...toRunning, stopping),
  succeeded: after(...toRunning, reported('succeeded')),
  failed: after(...toRunning, reported('failed')),
  stopped: after(...toRunning, stopping, ended()),
}

const run: Record<Trigger, (job: Job) => JobEvent[]> = {
  hold: holdForApproval,
  queue: job => queue(job, 'quota_in_use'),
  schedule: scheduled,
  executor_running: executorMarked(),
  report_starting: reported('starting'),
  report_running: reported('running'),
  report_succeeded: reported('succeeded'),
  report_failed: reported('failed'),
  exited_zero: ended(),
  exited_nonzero: ended({ exit_code: 1 }),
  lost: ended({ exit_code: null }),
  report_lost: job => assumeSucceeded({ ...job, exit: exitedZero }),
  preempt: ended({}, 20, { preempted: true }),
  pause: pausing,
  resume: job => resume(job, null),
  stop: job => stop(job, { ...asked, force: job.state === 'stopping' }),
  limit: job => limit(job, 'max_duration_s of 10 s was reached', at(100)),
  pending_timeout: job => pendingTimeout(job, 'max_pending_s of 10 s was reached', at(100)),
}

const states = [...jobStates]
const names = Object.keys(triggers) as Trigger[]

/** The state that an outcome of the table means, if the retry policy still allows an attempt. */
const expected = (state: JobState, outcome: Outcome): JobState =>
  outcome === 'by_retry'
    ? 'queued'
    : outcome === 'same' || outcome === 'ignored' || outcome === 'conflict'
      ? state
      : outcome

/** `same` without an event, because repeating the request adds nothing. */
const silent = new Set(['pausing pause', 'paused pause'])
/** States in which the exit is known already and not recorded again. */
const known = new Set<JobState>(['stopped'])

for (const state of states)
  for (const trigger of names) {
    const outcome = lifecycle[state][trigger]
    test(`${trigger} when ${state}: ${outcome}`, t => {
      const job = given[state]
      t.is(job.state, state)
      if (outcome === 'conflict') {
        const error = t.throws(() => run[trigger](job), { instanceOf: Refusal })
        t.is(error?.code, 'conflict')
        return
      }
      const events = run[trigger](job)
      t.is(events.map(stampedAt(30)).reduce(jobs.evolve, job).state, expected(state, outcome))
      if (outcome === 'ignored') t.deepEqual(events, [])
      else if (!silent.has(`${state} ${trigger}`) && !known.has(state)) t.true(events.length > 0)
    })
  }

test('docs/use/lifecycle.md shows the same table', t => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/use/lifecycle.md'), 'utf8')
  const rows = page
    .slice(page.indexOf('| trigger |'))
    .split('\n')
    .filter(line => line.startsWith('|'))
    .map(line =>
      line
        .slice(1, -1)
        .split('|')
        .map(cell => cell.trim()),
    )
  const [head, , ...cells] = rows
  t.deepEqual(head, ['trigger', ...states])
  t.deepEqual(
    cells.slice(0, names.length),
    names.map(name => [name, ...states.map(state => lifecycle[state][name])]),
  )
  t.deepEqual(
    cells.slice(-names.length),
    names.map(name => [name, triggers[name]]),
  )
})
