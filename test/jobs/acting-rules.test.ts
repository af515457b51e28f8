import test from 'ava'
import { clone, retry } from '../../command-api/jobs/again.ts'
import { change } from '../../command-api/jobs/changes.ts'
import { pause, pendingTimeout, schedule } from '../../command-api/jobs/decide.ts'
import { noteSilence } from '../../command-api/jobs/silence.ts'
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
  stampedAt,
} from './given.ts'

const running = [admitted(), scheduled, executorMarked(), reported('running', 10)]
const checkpoint = { artifact_id: 'art_1', path: 'model-300.npz', step: 300 }
const types = (events: readonly { type: string }[]) => events.map(event => event.type)
/** The job after further events at `seconds`. */
const then = (job: Job, decide: (job: Job) => ReturnType<typeof change>, seconds = 30) =>
  decide(job).map(stampedAt(seconds)).reduce(jobs.evolve, job)

test('a repeated pause has an effect only if it leaves less time', t => {
  const job = after(...running, j => pause(j, { ...asked, graceSeconds: 60 }))
  t.deepEqual(pause(job, { ...asked, graceSeconds: 60 }), [])
  t.like(pause(job, { ...asked, graceSeconds: 5 })[0], { data: { deadline: iso(105) } })
  t.like(pause(job, { ...asked, force: true })[0], { data: { deadline: iso(100) } })
  const paused = after(...running, j => pause(j, asked), ended())
  t.deepEqual(pause(paused, { ...asked, force: true }), [])
})

test('a forced pause leaves no time, and the state says so', t => {
  const job = then(after(...running), j => pause(j, { ...asked, force: true }), 100)
  t.like(job.request, { force: true, deadline: iso(100), at: iso(100) })
  t.like(then(after(...running), j => pause(j, asked), 100).request, { force: false })
})

test('an attempt continues from the newest checkpoint, unless its spec says otherwise', t => {
  const job = after(...running, j => pause(j, asked), ended())
  const queued = then({ ...job, state: 'queued' }, () => [])
  t.deepEqual(types(schedule(queued, placement, checkpoint)), [
    'job.scheduled',
    'job.checkpoint_chosen',
  ])
  t.like(schedule(queued, placement, checkpoint)[1], { data: { attempt: 2, ...checkpoint } })
  t.deepEqual(types(schedule(queued, placement, null)), ['job.scheduled'])
  const fresh = { ...queued, retry: { ...queued.retry, resume: 'none' as const } }
  t.deepEqual(types(schedule(fresh, placement, checkpoint)), ['job.scheduled'])
})

test('an empty change appends no event, and each real change its own', t => {
  const job = after(admitted())
  t.deepEqual(change(job, {}), [])
  t.deepEqual(change(job, { name: 'a job', tags: [], priority: 0 }), [])
  const events = change(job, { name: 'longer', tags: ['a', 'b'], priority: 5 })
  t.deepEqual(types(events), ['job.priority_changed', 'job.renamed', 'job.tagged'])
  t.like(events[0], { data: { priority: 5, before: 0 } })
  t.like(
    then(job, () => events),
    { name: 'longer', tags: ['a', 'b'], priority: 5, state: 'queued' },
  )
})

test('a job that has ended keeps its priority, but may be renamed and tagged', t => {
  const job = after(...running, reported('succeeded', 30))
  t.throws(() => change(job, { priority: 5 }), {
    instanceOf: Refusal,
    message: 'Job already stopped (succeeded at 2026-11-20T12:00:30+00:00)',
  })
  t.deepEqual(types(change(job, { name: 'done', tags: ['good'] })), ['job.renamed', 'job.tagged'])
  t.throws(() => change(jobs.initial, { name: 'x' }), { message: /No such job/ })
})

test('silence of its machine is noted once, and so is its end', t => {
  const job = after(...running)
  const silent = noteSilence(job, at(20))
  t.like(silent, [{ type: 'job.unreachable', data: { attempt: 1, silent_since: iso(20) } }])
  const unreachable = then(job, () => silent)
  t.true(unreachable.is_unreachable)
  t.deepEqual(noteSilence(unreachable, at(20)), [])
  t.like(noteSilence(unreachable, null), [{ type: 'job.recovered' }])
  t.deepEqual(noteSilence(job, null), [])
  t.deepEqual(noteSilence(after(admitted()), at(20)), [], 'nothing of it runs')
  t.false(then(unreachable, ended()).is_unreachable, 'its end is known')
})

test('a job that waits too long fails with the limit and its value', t => {
  const job = after(admitted({ limits: { max_pending_s: 60 } }))
  t.is(job.max_pending_s, 60)
  t.like(pendingTimeout(job, 'max_pending_s (60) is reached', at(60)), [
    { type: 'job.failed', data: { reason: 'limit', message: 'max_pending_s (60) is reached' } },
  ])
})

const { spec } = admittedJob({
  scheduling: { not_before: '2026-11-20T13:00:00+00:00' },
  env: { HUB_TOKEN: '***' },
})

test('a clone has later changes by people, but neither a hold nor an approval', t => {
  const job = then(after(admitted()), j => change(j, { name: 'longer', tags: ['x'], priority: 7 }))
  t.like(clone(job, spec), {
    metadata: { name: 'longer', tags: ['x'] },
    spec: { scheduling: { priority: 7, not_before: null }, approval: { plan_id: null } },
  })
})

test('a retry continues from the newest checkpoint and names the job it repeats', t => {
  const job = after(...running, reported('failed', 30))
  const again = retry(job, { spec, checkpoint, env: { HUB_TOKEN: 'abc' } })
  t.deepEqual(again.metadata.labels, { 'retry-of': 'run_1' })
  t.deepEqual(again.spec.env, { HUB_TOKEN: 'abc' })
  t.like(again.spec.init_from, { artifact_id: 'art_1', load: 'full_state' })
  t.is(retry(job, { spec, checkpoint: null, env: {} }).spec.init_from, null)
  const fresh = { ...spec, spec: { ...spec.spec, retry: { ...spec.spec.retry, resume: 'none' } } }
  t.is(retry(job, { spec: fresh as typeof spec, checkpoint, env: {} }).spec.init_from, null)
})

test('a retry of a successful job starts from the beginning', t => {
  const job = after(...running, reported('succeeded', 30))
  t.is(retry(job, { spec, checkpoint, env: {} }).spec.init_from, null)
})

test('only a job that has ended can be retried', t => {
  const refused = (job: Job) =>
    t.throws(() => retry(job, { spec, checkpoint: null, env: {} }), { instanceOf: Refusal })
  t.like(refused(after(...running)), {
    code: 'conflict',
    message: 'Job is running; only a job that has ended can be retried',
  })
  t.regex(String(refused(after(...running, j => pause(j, asked), ended()))), /: resume it instead/)
  t.is(refused(jobs.initial)?.code, 'not_found')
})
