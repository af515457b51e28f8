import test from 'ava'
import { assumeSucceeded } from '../../command-api/jobs/attempt-end.ts'
import {
  admit,
  executorRunning,
  limit,
  pause,
  queue,
  report,
  resume,
  schedule,
  stop,
} from '../../command-api/jobs/decide.ts'
import { nextLimit } from '../../command-api/jobs/limits.ts'
import { type Job, jobs } from '../../events/job-state.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  admitted,
  admittedJob,
  after,
  asked,
  at,
  ended,
  executorMarked,
  iso,
  placement,
  reported,
  scheduled,
} from './given.ts'

const subject = { run_id: 'run_1', short_id: 'math-rl-1', project: 'math-rl', owner: 'ada' }
const running = [admitted(), scheduled, executorMarked(), reported('running', 10)]

test('a job without a hold is queued with its admission', t => {
  t.deepEqual(admit(jobs.initial, admittedJob(), null).slice(1), [
    { type: 'job.queued', data: { ...subject, reason: 'waiting_capacity', not_before: null } },
  ])
})

test('a run is admitted once', t => {
  t.throws(() => admit(after(admitted()), admittedJob(), null), { instanceOf: Refusal })
})

test('a job is held until its time, and then queued', t => {
  const job = after(j => admit(j, admittedJob(), { reason: 'not_before', until: iso(60) }))
  t.like(job, { state: 'held', not_before: iso(60) })
  t.like(queue(job, 'waiting_capacity'), [{ type: 'job.queued' }])
})

test('a changed reason to wait appends no event', t => {
  t.deepEqual(queue(after(admitted()), 'waiting_capacity'), [])
  t.deepEqual(queue(after(admitted()), 'quota_in_use'), [])
})

test('each start of a job is its next attempt', t => {
  const retries = { retry: { max_attempts: 3 } }
  const lost = after(admitted(retries), scheduled, executorMarked(), ended({ exit_code: null }))
  t.deepEqual(schedule(lost, placement), [
    { type: 'job.scheduled', data: { ...subject, attempt: 2, ...placement } },
  ])
})

test('a running job is not started again', t => {
  t.deepEqual(schedule(after(...running), placement), [])
})

test("the executor's mark starts nothing of another attempt", t => {
  t.deepEqual(executorRunning(after(admitted(), scheduled), 2, iso(3)), [])
})

test("code that reports before the executor's mark proves that it runs", t => {
  const events = reported('running', 7)(after(admitted(), scheduled))
  t.deepEqual(
    events.map(event => event.type),
    ['job.starting', 'job.running'],
  )
  t.like(events[0], { data: { executor_running_at: iso(7) } })
})

test('billing starts with the first running of an attempt', t => {
  const job = after(...running)
  t.is(job.started_at, iso(10))
  t.deepEqual(reported('running', 99)(job), [])
})

test('reports of an older attempt change nothing', t => {
  const retries = { retry: { max_attempts: 2, backoff_s: 0 } }
  const second = after(admitted(retries), scheduled, ended({ exit_code: null }), scheduled)
  t.is(second.attempt, 2)
  const said = { attempt: 1, phase: null, exit_code: null, message: null, at: iso(50) }
  t.deepEqual(report(second, { ...said, event: 'failed' }), [])
  t.like(report(second, { ...said, event: 'running', attempt: 2 }), [
    { type: 'job.starting' },
    { type: 'job.running' },
  ])
})

test('a reported end is final, whatever the process does afterwards', t => {
  const job = after(...running, reported('succeeded', 30))
  t.like(job, { state: 'succeeded', ended_at: iso(30) })
  const events = ended({ exit_code: 139 }, 31)(job)
  t.is(events.length, 1)
  t.like(events[0], { type: 'job.exited', data: { exit_code: 139, gpu_seconds: 42 } })
})

test('an exit code other than 0 fails a job that has not reported its end', t => {
  t.like(ended({ exit_code: 3 }, 20)(after(...running)), [
    { type: 'job.exited', data: { exit_code: 3, gpu_seconds: 20 } },
    {
      type: 'job.failed',
      data: { reason: 'exit_code', exit_code: 3, message: 'It exited with code 3' },
    },
  ])
})

test('a failure records everything known about it', t => {
  const how = (...end: Parameters<typeof ended>) => ended(...end)(after(...running))[1]?.data
  t.like(how({ exit_code: null, signal: 'SIGSEGV' }), {
    reason: 'exit_code',
    message: 'It was ended by signal SIGSEGV',
  })
  t.like(how({ exit_code: null, signal: 'SIGKILL', oom_killed: true }), { reason: 'oom_killed' })
  t.like(how({ exit_code: null, launch_error: 'no such program' }, 20, { was_running: false }), {
    reason: 'launch_error',
    message: 'no such program',
  })
})

test('exit code 0 counts as success if no report follows', t => {
  const job = after(...running, ended({}, 20))
  t.is(job.state, 'running')
  const ended_at = at(20).toISOString()
  t.like(assumeSucceeded(job), [
    { type: 'job.succeeded', data: { reason: 'exit_code', exit_code: 0, ended_at } },
  ])
  t.deepEqual(assumeSucceeded(after(...running)), [])
})

test('a report in flight when the process ended still decides', t => {
  const job = after(...running, ended({}, 20), reported('failed', 21))
  t.is(job.state, 'failed')
})

test('a start reported after the end of an attempt is ignored', t => {
  const job = after(admitted(), scheduled, ended())
  t.deepEqual(reported('running')(job), [])
})

test('an exit is recorded once', t => {
  t.deepEqual(ended()(after(...running, ended())), [])
  t.deepEqual(ended({}, 20, { attempt: 7 })(after(...running)), [])
})

test('a lost attempt is retried while its spec allows it, not before the backoff', t => {
  const spec = { retry: { max_attempts: 2, backoff_s: 60 } }
  const first = after(admitted(spec), scheduled, executorMarked())
  const lost = ended({ exit_code: null, launch_error: 'supervisor lost' }, 100)
  t.like(lost(first).slice(1), [
    { type: 'job.retried', data: { attempt: 1, reason: 'node_failure', not_before: iso(160) } },
    { type: 'job.queued', data: { reason: 'retry_backoff', not_before: iso(160) } },
  ])
  const second = after(
    admitted(spec),
    scheduled,
    executorMarked(),
    lost,
    scheduled,
    executorMarked(),
  )
  t.like(lost(second)[1], {
    type: 'job.failed',
    data: { reason: 'node_failure', message: 'supervisor lost' },
  })
})

test('an attempt that ended with a pause does not use up a retry after losses', t => {
  const spec = { retry: { max_attempts: 2, backoff_s: 60 } }
  const lost = ended({ exit_code: null, launch_error: 'supervisor lost' }, 100)
  const begun = [scheduled, executorMarked()]
  const untilResumed = [
    ...[admitted(spec), ...begun, reported('running'), (job: Job) => pause(job, asked)],
    ...[ended(), (job: Job) => resume(job, null), ...begun],
  ]
  const second = after(...untilResumed)
  t.is(second.attempt, 2)
  t.like(lost(second)[1], { type: 'job.retried', data: { attempt: 2 } })
  const third = after(...untilResumed, lost, ...begun)
  t.is(third.attempt, 3)
  t.like(lost(third)[1], { type: 'job.failed', data: { reason: 'node_failure' } })
})

test('a lost attempt is not retried if its spec does not name the cause', t => {
  const spec = { retry: { max_attempts: 5, on: ['preemption'] } }
  t.is(
    after(admitted(spec), scheduled, executorMarked(), ended({ exit_code: null })).state,
    'failed',
  )
})

test('a stop uses the grace of the spec, or the requested one', t => {
  const job = after(admitted({ limits: { stop_grace_s: 30 } }), scheduled)
  t.like(stop(job, asked)[0], { data: { force: false, deadline: iso(130) } })
  t.like(stop(job, { ...asked, graceSeconds: 5 })[0], { data: { deadline: iso(105) } })
  t.like(stop(job, { ...asked, force: true })[0], { data: { force: true, deadline: iso(100) } })
})

test('a second stop has an effect only if it leaves less time', t => {
  const job = after(...running, j => stop(j, { ...asked, graceSeconds: 60 }))
  t.deepEqual(stop(job, { ...asked, graceSeconds: 60 }), [])
  t.deepEqual(stop(job, { ...asked, graceSeconds: 90 }), [])
  t.like(stop(job, { ...asked, graceSeconds: 10 })[0], { data: { deadline: iso(110) } })
  t.like(stop(job, { ...asked, force: true })[0], { data: { force: true } })
})

test('a job without a running attempt stops at once', t => {
  t.like(stop(after(admitted()), { ...asked, message: 'not needed' }), [
    { type: 'job.stopped', data: { attempt: 0, reason: 'user', message: 'not needed' } },
  ])
  const waitsForReport = after(...running, ended())
  t.like(stop(waitsForReport, asked), [{ type: 'job.stop_requested' }, { type: 'job.stopped' }])
})

test('a stop of an ended job returns its end', t => {
  const job = after(...running, reported('succeeded', 30))
  t.throws(() => stop(job, asked), {
    instanceOf: Refusal,
    message: 'Job already stopped (succeeded at 2026-11-20T12:00:30+00:00)',
  })
})

test('the exit of a stopped job does not change its state', t => {
  const stopping = [...running, (j: Job) => stop(j, { ...asked, message: 'enough' })]
  t.deepEqual(reported('succeeded')(after(...stopping)), [])
  t.like(ended({ exit_code: 1 })(after(...stopping))[1], {
    type: 'job.stopped',
    data: { reason: 'user', message: 'enough', exit_code: 1 },
  })
})

test('a pause ends the attempt, and a resume queues the job for the next one', t => {
  const pausing = (j: Job) => pause(j, { ...asked, graceSeconds: 60 })
  t.like(pausing(after(...running)), [
    { type: 'job.pause_requested', data: { deadline: iso(160) } },
  ])
  const paused = after(...running, pausing, ended({ exit_code: 143 }))
  t.is(paused.state, 'paused')
  t.like(resume(paused, null), [{ type: 'job.resumed' }, { type: 'job.queued' }])
  t.like(
    schedule(
      after(...running, pausing, ended(), j => resume(j, null)),
      placement,
    )[0],
    { data: { attempt: 2 } },
  )
})

test('a pausing job may still succeed', t => {
  const job = after(...running, j => pause(j, asked), reported('succeeded'))
  t.is(job.state, 'succeeded')
})

test('a command not allowed in a state is refused with the state', t => {
  t.throws(() => resume(after(...running), null), {
    message: 'A job that is running cannot be resumed',
  })
  t.throws(() => stop(jobs.initial, asked), {
    instanceOf: Refusal,
    message: /No such job/,
  })
})

test('the limits of the spec count from the start of running', t => {
  const job = after(
    admitted({ limits: { max_duration_s: 60 } }),
    scheduled,
    executorMarked(5),
    reported('running', 10),
  )
  t.like(nextLimit(job), { at: at(70), message: 'max_duration_s (60) is reached' })
  t.like(limit(job, 'max_duration_s (60) is reached', at(70))[0], {
    type: 'job.stop_requested',
    data: { reason: 'limit', deadline: iso(370) },
  })
  const stopped = after(...running, j => limit(j, 'over', at(70)), ended())
  t.is(stopped.state, 'stopped')
})

test('without a report the limits count from the mark of the executor', t => {
  const job = after(admitted({ limits: { max_duration_s: 60 } }), scheduled, executorMarked(5))
  t.deepEqual(nextLimit(job)?.at, at(65))
})

test('max_cost ends a job when its GPUs have cost that much', t => {
  const priced = { ...admittedJob({ limits: { max_cost: '2.00' } }), price_per_gpu_hour: '3.60' }
  const job = after(j => admit(j, priced, null), scheduled, reported('running', 0))
  // Two GPUs at 3.60 an hour: 0.002 a second.
  t.like(nextLimit(job), { at: at(1000), message: 'max_cost (2.00) is reached' })
})
