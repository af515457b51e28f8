import test, { type ExecutionContext } from 'ava'
import { pause, resume, stop } from '../../command-api/jobs/decide.ts'
import { reportJob } from '../../command-api/jobs/report.ts'
import { runDueTimers } from '../../command-api/jobs/timers.ts'
import { decodeFact } from '../../events/fact.ts'
import type { JobEvent } from '../../events/jobs.ts'
import { absorb, emptyLog } from '../../projector/logs/run-log.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { type JobsWithExecutor, jobsWithExecutor } from './jobs-with-executor.ts'
import { told } from './told.ts'
import { makeUnreadable } from './unreadable.ts'

// One test at a time, because each starts processes, which soon overload a small machine.
const types = (events: readonly JobEvent[]) => events.map(event => event.type.slice('job.'.length))

const asked = (at: JobsWithExecutor, more: { graceSeconds?: number; force?: boolean } = {}) => ({
  message: null,
  graceSeconds: null,
  force: false,
  now: at.now(),
  ...more,
})

const holds = async ({ pool }: JobsWithExecutor) => {
  const { rows } = await pool.query(
    `select (select count(*)::int from write.gpu_slot) as slots, (select count(*)::int from write.quota_hold) as holds,
            coalesce(sum(held_gpus), 0)::int as gpus, coalesce(sum(held_jobs), 0)::int as jobs from write.quota`,
  )
  return rows[0]
}
const reasonOf = async ({ pool }: JobsWithExecutor, run_id: string) => {
  const { rows } = await pool.query('select queue_reason from write.job_state where run_id = $1', [
    run_id,
  ])
  return rows[0]?.queue_reason
}
const nothing = { slots: 0, holds: 0, gpus: 0, jobs: 0 }

test.serial('a job runs, fails with its exit code, and releases its GPUs and quota', async t => {
  const at = await jobsWithExecutor(t, { script: 'echo out; echo err >&2; exit 3' })
  at.reconcile()
  const { run_id } = await at.submit({ resources: { gpus_per_node: 2 } })
  await at.untilState(run_id, 'failed')
  const events = await at.eventsOf(run_id)
  t.deepEqual(types(events), ['admitted', 'queued', 'scheduled', 'starting', 'exited', 'failed'])
  t.like(events[2], { data: { attempt: 1, executor: 'local', gpu_indexes: [0, 1] } })
  t.like(events[5], { data: { reason: 'exit_code', exit_code: 3 } })
  t.deepEqual(await holds(at), nothing)
  t.is(await at.printed(run_id), 'out\n')
})

test.serial(
  'a last line without a line break is readable as soon as its job has ended',
  async t => {
    const at = await jobsWithExecutor(t, { script: 'printf out; printf err >&2; exit 3' })
    at.reconcile()
    const { run_id } = await at.submit()
    await at.untilState(run_id, 'failed')
    const log = emptyLog()
    for (const { value } of await at.records()) absorb(log, decodeFact(value))
    t.deepEqual(log.added.flatMap(({ lines }) => lines).sort(), ['err', 'out'])
    t.is(log.eof, null)
  },
)

test.serial(
  'the values of env are deleted with the end of the job, not with the end of an attempt',
  async t => {
    const at = await jobsWithExecutor(t, { script: 'exit 3' })
    const { run_id } = await at.submit({ env: { HUB_TOKEN: 'abc', NCCL_DEBUG: 'WARN' } })
    const envNow = async () =>
      (
        await at.pool.query('select env, sealed_env from write.job_state where run_id = $1', [
          run_id,
        ])
      ).rows[0]
    const { env, sealed_env } = await envNow()
    t.deepEqual(env, { NCCL_DEBUG: 'WARN' })
    t.regex(sealed_env, /^sealing-\w+-\w+:/)
    at.reconcile()
    await at.untilState(run_id, 'failed')
    t.deepEqual(await envNow(), { env: {}, sealed_env: null })
    t.false(JSON.stringify(await at.eventsOf(run_id)).includes('abc'))
  },
)

test.serial('exit code 0 without a report is a success after a minute', async t => {
  const at = await jobsWithExecutor(t)
  at.reconcile()
  const { run_id } = await at.submit()
  await until('it has ended', 60_000, async () =>
    types(await at.eventsOf(run_id)).includes('exited'),
  )
  t.is(await runDueTimers(at.deps), false)
  t.is(await at.stateOf(run_id), 'starting')
  t.deepEqual(await holds(at), nothing)
  at.later(61)
  t.is(await runDueTimers(at.deps), true)
  t.is(await at.stateOf(run_id), 'succeeded')
})

test.serial('a job whose timer fails does not delay the others', async t => {
  const at = await jobsWithExecutor(t)
  const jobs = [
    await at.submit({ limits: { max_pending_s: 1 } }),
    await at.submit({ limits: { max_pending_s: 1 } }),
    await at.submit({ limits: { max_pending_s: 1 } }),
  ]
  await makeUnreadable(at, String(jobs[0]?.run_id))
  at.later(61)
  t.is(await runDueTimers(at.deps), true)
  t.deepEqual(await Promise.all(jobs.map(({ run_id }) => at.stateOf(run_id))), [
    'queued',
    'failed',
    'failed',
  ])
})

test.serial('a reported end is shown at once, and the process may exit later', async t => {
  const { wait, goOn } = told(t)
  const at = await jobsWithExecutor(t, { script: `${wait}; echo tidy` })
  at.reconcile()
  const { run_id } = await at.submit()
  await at.untilState(run_id, 'starting')
  const report = reportJob(at.deps)
  const say = async (event: 'running' | 'succeeded') => {
    const actor = { type: 'run', id: run_id, via: 'test' } as const
    return report({ run_id, event }, null, { actor, requestId: 'test' })
  }
  t.like(await say('running'), {
    state: 'running',
    applied: true,
    duplicate: false,
    control: { action: 'none' },
  })
  t.like(await say('running'), { state: 'running', applied: false, duplicate: true })
  t.like(await say('succeeded'), { state: 'succeeded', applied: true })
  t.like(await say('running'), { state: 'succeeded', applied: false })
  await goOn()
  await until('its GPUs are free', 60_000, async () => (await holds(at)).slots === 0)
  t.is(await at.printed(run_id), 'tidy\n')
  t.deepEqual(types(await at.eventsOf(run_id)).slice(-3), ['running', 'succeeded', 'exited'])
})

/** A run that receives the request to end, but continues. */
async function startStubborn(t: ExecutionContext) {
  const at = await jobsWithExecutor(t, {
    script: "trap 'echo asked' TERM; echo ready; while :; do sleep 0.1; done",
  })
  at.reconcile()
  const { run_id } = await at.submit()
  await at.untilState(run_id, 'starting')
  await until('the run can receive the request', 60_000, async () =>
    /ready/.test(await at.printed(run_id)),
  )
  return { at, run_id }
}

test.serial('a stop first asks the process to end, then kills it', async t => {
  const { at, run_id } = await startStubborn(t)
  await at.change(run_id, job => stop(job, asked(at, { graceSeconds: patient(2_000) / 1000 })))
  await at.untilState(run_id, 'stopped')
  t.regex(await at.printed(run_id), /asked/)
  t.like((await at.eventsOf(run_id)).at(-2), { type: 'job.exited', data: { signal: 'SIGKILL' } })
})

test.serial('a forced stop kills at once', async t => {
  const { at, run_id } = await startStubborn(t)
  await at.change(run_id, job => stop(job, asked(at, { graceSeconds: 600 })))
  await at.change(run_id, job => stop(job, asked(at, { force: true })))
  await at.untilState(run_id, 'stopped')
  t.deepEqual(await holds(at), nothing)
})

test.serial('a stop before the start leaves nothing running', async t => {
  const at = await jobsWithExecutor(t, { script: 'sleep 600' })
  const { run_id } = await at.submit()
  t.is(await at.commands.schedule(run_id, [0]), 'scheduled')
  await at.change(run_id, job => stop(job, asked(at)))
  at.reconcile()
  await at.untilState(run_id, 'stopped')
  t.is(await at.executor.find(run_id, 1), null)
})

test.serial('the next server finds the run, its output and its end', async t => {
  const [withoutServer, withTheNext] = [told(t), told(t)]
  const at = await jobsWithExecutor(t, {
    script: `echo line 1; echo line 2; ${withoutServer.wait}
             echo line 3; echo line 4; ${withTheNext.wait}; echo line 5; echo line 6; exit 7`,
  })
  const first = at.reconcile()
  const { run_id } = await at.submit()
  const prints = (line: string) =>
    until(`it prints ${line}`, 60_000, async () => (await at.printed(run_id)).includes(line))
  await prints('line 2')
  await first.stop()
  await withoutServer.goOn()
  at.reconcile()
  await prints('line 4')
  await withTheNext.goOn()
  await at.untilState(run_id, 'failed')
  t.is(await at.printed(run_id), [1, 2, 3, 4, 5, 6].map(i => `line ${i}\n`).join(''))
  t.is(types(await at.eventsOf(run_id)).filter(type => type === 'scheduled').length, 1)
  t.like((await at.eventsOf(run_id)).at(-1), { data: { exit_code: 7 } })
})

test.serial('jobs wait for GPUs in order of arrival, and nobody overtakes', async t => {
  const { wait, goOn } = told(t)
  const at = await jobsWithExecutor(t, { gpus: 2, script: wait })
  const big = await at.submit({ resources: { gpus_per_node: 2 } })
  const next = await at.submit({ resources: { gpus_per_node: 2 } })
  const small = await at.submit({ resources: { gpus_per_node: 1 } })
  t.is(small.queue?.position, 3)
  t.is(small.queue?.ahead_gpus, 4)
  at.reconcile()
  await until('the last has a reason to wait', 60_000, async () => {
    return (await reasonOf(at, small.run_id)) === 'behind_priority'
  })
  t.deepEqual(types(await at.eventsOf(small.run_id)), ['admitted', 'queued'], 'which adds no event')
  t.is(await at.stateOf(next.run_id), 'queued')
  t.true(['scheduled', 'starting'].includes(await at.stateOf(big.run_id)))
  await goOn()
  await until(
    'all have run',
    60_000,
    async () => (await holds(at)).jobs === 0 && (await at.eventsOf(small.run_id)).length > 4,
  )
  const scheduledAt = async (run_id: string) => {
    const { rows } = await at.pool.query(
      'select scheduled_at from write.job_state where run_id = $1',
      [run_id],
    )
    return rows[0].scheduled_at.getTime()
  }
  t.true((await scheduledAt(next.run_id)) <= (await scheduledAt(small.run_id)))
})

test.serial(
  "a pause ends the attempt, and the next one keeps the job's place in the queue",
  async t => {
    const at = await jobsWithExecutor(t, {
      script: 'echo attempt $FORGE_ATTEMPT; [ "$FORGE_ATTEMPT" = 2 ] || sleep 600',
    })
    at.reconcile()
    const { run_id } = await at.submit()
    await at.untilState(run_id, 'starting')
    await at.change(run_id, job => pause(job, asked(at, { graceSeconds: 0 })))
    await at.untilState(run_id, 'paused')
    t.deepEqual(await holds(at), nothing)
    await at.change(run_id, job => resume(job, null))
    await until(
      'the second attempt has ended',
      60_000,
      async () => types(await at.eventsOf(run_id)).filter(type => type === 'exited').length === 2,
    )
    t.is(await at.printed(run_id), 'attempt 2\n')
  },
)

test.serial(
  'an attempt unknown to the engine is lost, and retried if the spec says so',
  async t => {
    const at = await jobsWithExecutor(t, { script: 'echo attempt $FORGE_ATTEMPT; sleep 600' })
    const first = at.reconcile()
    const { run_id } = await at.submit({ retry: { max_attempts: 2, backoff_s: 0 } })
    await at.untilState(run_id, 'starting')
    await first.stop()
    const ref = String(await at.executor.find(run_id, 1))
    await at.executor.stop(ref, { grace_s: 0, force: true })
    await until(
      'it has ended',
      10_000,
      async () => (await at.executor.observe(ref)).state === 'exited',
    )
    t.true(await at.executor.forgetRun(run_id))
    at.reconcile()
    await until(
      'it runs again',
      60_000,
      async () => types(await at.eventsOf(run_id)).filter(type => type === 'starting').length === 2,
    )
    t.like(
      (await at.eventsOf(run_id)).find(event => event.type === 'job.retried'),
      { data: { attempt: 1, reason: 'node_failure' } },
    )
  },
)

test.serial('a job is stopped at its time limit', async t => {
  const at = await jobsWithExecutor(t, { script: 'sleep 600' })
  at.reconcile()
  const { run_id } = await at.submit({ limits: { max_duration_s: 1, stop_grace_s: 1 } })
  await at.untilState(run_id, 'stopped')
  t.like((await at.eventsOf(run_id)).at(-1), {
    data: { reason: 'limit', message: 'max_duration_s (1) is reached' },
  })
})

test.serial('a held job is queued at its time, and one that waits too long fails', async t => {
  const at = await jobsWithExecutor(t)
  const not_before = new Date(at.now().getTime() + 3_600_000).toISOString()
  const held = await at.submit({ scheduling: { not_before } })
  const waiting = await at.submit({ limits: { max_pending_s: 60 } })
  t.is(held.state, 'held')
  t.is(await runDueTimers(at.deps), false)
  at.later(61)
  await runDueTimers(at.deps)
  t.is(await at.stateOf(waiting.run_id), 'failed')
  at.later(3600)
  await runDueTimers(at.deps)
  t.is(await at.stateOf(held.run_id), 'queued')
})

test.serial(
  'while the log is away, jobs end and stop, and their output follows when it is back',
  async t => {
    const at = await jobsWithExecutor(t, {
      script: '[ "$QUIET" ] && exit 3; while :; do echo on; sleep 0.1; done',
    })
    at.log.setAvailable(false)
    const loud = [await at.submit(), await at.submit()]
    const quiet = await at.submit({ env: { QUIET: 'yes' } })
    at.reconcile()
    await at.untilState(quiet.run_id, 'failed')
    for (const { run_id } of loud) {
      await at.untilState(run_id, 'starting')
      await at.change(run_id, job => stop(job, asked(at, { graceSeconds: 1 })))
    }
    const hasEnded = async ({ run_id }: { run_id: string }) => {
      const ref = String(await at.executor.find(run_id, 1))
      return (await at.executor.observe(ref)).state === 'exited'
    }
    await until('both have been stopped', 60_000, async () =>
      (await Promise.all(loud.map(hasEnded))).every(Boolean),
    )
    at.log.setAvailable(true)
    for (const { run_id } of loud) {
      await at.untilState(run_id, 'stopped')
      t.regex(await at.printed(run_id), /^(on\n)+$/)
    }
  },
)
