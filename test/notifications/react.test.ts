import test from 'ava'
import { dutiesOf } from '../../command-api/notifications/react.ts'
import type { DecisionEvent } from '../../events/all.ts'
import type { Actor, Recorded } from '../../events/event.ts'

const root: Actor = { type: 'user', id: 'root', via: 'password' }
const alice: Actor = { ...root, id: 'alice' }
const executor: Actor = { type: 'system', id: 'executor', via: 'local' }

const told = (event: DecisionEvent, actor: Actor) => {
  const recorded: Recorded<DecisionEvent> = {
    ...event,
    actor,
    event_id: '01900000-0000-7000-8000-000000000001',
    schema_version: 1,
    stream: 'job-run_1',
    stream_version: 1,
    occurred_at: '2026-11-01T00:00:00.000Z',
    request_id: 'r',
    causation_id: null,
  }
  return dutiesOf(recorded).map(duty => duty.payload)
}

const job = { run_id: 'run_1', short_id: 'math-1', project: 'math', owner: 'alice' }
const end = {
  ...job,
  attempt: 1,
  message: 'exit code 1',
  exit_code: 1,
  ended_at: '2026-11-01T00:00:00.000Z',
}
const ended = (
  type: 'job.succeeded' | 'job.failed' | 'job.stopped',
  reason: 'reported' | 'user' | 'limit',
): DecisionEvent => ({ type, data: { ...end, reason } })

test('a pause notifies the owner of the job if somebody else asks for it', t => {
  const data = { ...job, attempt: 1, message: 'for a demo', deadline: '2026-11-01T00:05:00.000Z' }
  const pause: DecisionEvent = { type: 'job.pause_requested', data }
  t.like(told(pause, root)[0], {
    username: 'alice',
    message: { kind: 'job_paused', title: 'math-1 is being paused by root', body: 'for a demo' },
  })
  t.deepEqual(told(pause, alice), [])
})

test('a push to the hub that failed notifies its owner', t => {
  const data = { push_id: 'hpsh_1', owner: 'alice', repo: 'acme/tutor', reason: 'it is away' }
  t.like(told({ type: 'hub.push_failed', data }, executor)[0], {
    username: 'alice',
    message: {
      title: 'acme/tutor did not get its model',
      ...{ body: 'it is away', url: '/hub-imports' },
    },
  })
})

test('the end of a job notifies its owner, with a link to its page', t => {
  t.like(told(ended('job.failed', 'reported'), executor)[0], {
    username: 'alice',
    message: {
      kind: 'job_failed',
      level: 'error',
      title: 'math-1 failed (reported)',
      body: 'exit code 1',
      target: { type: 'job', id: 'run_1' },
      url: '/runs/run_1',
    },
  })
  const [success] = told(ended('job.succeeded', 'reported'), executor)
  t.like(success, { username: 'alice', message: { kind: 'job_succeeded', level: 'info' } })
})

test('a stop by somebody else or at a limit notifies the owner, their own stop does not', t => {
  t.deepEqual(told(ended('job.stopped', 'user'), alice), [])
  t.is(told(ended('job.stopped', 'user'), root)[0]?.message.title, 'math-1 was stopped by root')
  const [limit] = told(ended('job.stopped', 'limit'), executor)
  t.is(limit?.message.title, 'math-1 was stopped at a limit')
})

test('the stop of a running job names the requester, not the observer of its end', t => {
  const stop = (reason: 'user' | 'limit'): DecisionEvent => ({
    type: 'job.stop_requested',
    data: {
      ...{ ...job, attempt: 1, reason, message: 'for a demo', force: false },
      deadline: '2026-11-01T00:05:00.000Z',
    },
  })
  t.like(told(stop('user'), root)[0], {
    username: 'alice',
    message: { kind: 'job_stopped', title: 'math-1 is being stopped by root', body: 'for a demo' },
  })
  t.deepEqual(told(stop('user'), alice), [])
  t.deepEqual(told(stop('limit'), executor), [])
  t.deepEqual(told(ended('job.stopped', 'user'), executor), [])
  const run: Actor = { type: 'run', id: 'run_1', via: 'run-token' }
  t.deepEqual(told(ended('job.stopped', 'user'), run), [])
})

test('a retry notifies the owner, with the end of the previous attempt', t => {
  const [retry] = told(
    {
      type: 'job.retried',
      data: { ...job, attempt: 2, reason: 'node_failure', not_before: end.ended_at },
    },
    executor,
  )
  t.like(retry?.message, { kind: 'job_retrying', body: 'Attempt 2 ended: node failure' })
})

test('a quota or role changed by somebody else notifies the person', t => {
  const quota: DecisionEvent = {
    type: 'quota.set',
    data: {
      username: 'alice',
      max_concurrent_gpus: 16,
      max_concurrent_jobs: 2,
      daily_gpu_hours: 0,
      max_storage_gb: 0,
      allowed_profiles: [],
      priority: 0,
      per_series: {},
    },
  }
  t.like(told(quota, root)[0], {
    username: 'alice',
    message: { kind: 'quota_changed', body: 'Up to 16 GPUs and 2 jobs at once', actor: 'root' },
  })
  t.deepEqual(told(quota, alice), [])
  const role: DecisionEvent = {
    type: 'user.role_changed',
    data: { username: 'alice', role: 'admin', previous: 'operator' },
  }
  t.is(told(role, root)[0]?.message.title, 'You are an admin now')
})

test('a refresh token used twice warns its person', t => {
  const reused: DecisionEvent = {
    type: 'user.refresh_reused',
    data: { username: 'alice', sid: 'ses_1' },
  }
  const [warning] = told(reused, { ...alice, via: 'refresh_token' })
  t.like(warning?.message, { kind: 'session_ended', level: 'warn' })
})

test('maintenance notifies everybody', t => {
  const began: DecisionEvent = { type: 'admin.maintenance_on', data: { message: 'new disks' } }
  t.like(told(began, root)[0], {
    username: null,
    message: { kind: 'maintenance', body: 'new disks' },
  })
})

test('long messages of a job are cut between characters', t => {
  const data = { ...end, reason: 'reported' as const, message: '🔥'.repeat(2000) }
  const [failed] = told({ type: 'job.failed', data }, executor)
  t.is(failed?.message.body, '🔥'.repeat(500))
})

test('an event that affects nobody notifies nobody', t =>
  t.deepEqual(told({ type: 'admin.maintenance_off', data: {} }, root), []))
