import test from 'ava'
import { endRaise, limitsOf, raiseQuota } from '../../command-api/quotas/decide.ts'
import {
  ask,
  decideApproval,
  expire,
  isCleared,
  voidAll,
} from '../../command-api/rules/approval-decisions.ts'
import { type ApprovalEvent, type Asked, approvals } from '../../events/approvals.ts'
import { type QuotaEvent, quotas } from '../../events/quotas.ts'
import { folded } from '../folded.ts'

const now = new Date('2026-11-28T12:00:00Z')
const later = new Date('2026-12-02T12:00:00Z')

const asked = (approval_id: string, more: { rule?: string; digest?: string } = {}): Asked => ({
  approval_id,
  subject: { type: 'job', id: 'run_1', digest: more.digest ?? 'sha256:a' },
  title: 'job demo-1',
  rule: more.rule ?? 'big',
  who: { role: 'admin', team: null },
  requested_by: 'ada',
  content: {},
  expires_h: 72,
  expires_at: '2026-12-01T12:00:00.000Z',
  tell: [],
})

const state = (events: readonly ApprovalEvent[]) => folded(approvals, events)
const types = (events: readonly ApprovalEvent[]) => events.map(({ type }) => type.slice(9))
const made = (approval_id: string, decision: 'approved' | 'rejected', by = 'eve') => ({
  ...{ approval_id, decision, by, comment: '' },
})

test('an approval of each rule clears a digest; asking again changes nothing', t => {
  const events = ask(state([]), [asked('a'), asked('b', { rule: 'dear' })])
  t.deepEqual(types(events), ['requested', 'requested'])
  t.deepEqual(ask(state(events), [asked('c')]), [])
  events.push(...decideApproval(state(events), made('a', 'approved'), now))
  t.false(isCleared(state(events), 'sha256:a'), 'another rule waits')
  events.push(...decideApproval(state(events), made('b', 'approved'), now))
  t.true(isCleared(state(events), 'sha256:a'))
  t.false(isCleared(state(events), 'sha256:b'), 'nobody was asked about this one')
})

test('the same decision again changes nothing, another one is refused', t => {
  const events = ask(state([]), [asked('a')])
  events.push(...decideApproval(state(events), made('a', 'rejected'), now))
  t.deepEqual(decideApproval(state(events), made('a', 'rejected', 'bob'), later), [])
  const error = t.throws(() => decideApproval(state(events), made('a', 'approved'), now))
  t.like(error, { code: 'conflict', extras: { code: 'approval.rejected' } })
})

test('a change voids the approvals of the earlier digest, decided or not', t => {
  const events = ask(state([]), [asked('a'), asked('b', { rule: 'dear' })])
  events.push(...decideApproval(state(events), made('a', 'approved'), now))
  events.push(...ask(state(events), [asked('c', { digest: 'sha256:b' })]))
  t.deepEqual(
    state(events).map(one => one.state),
    ['voided', 'voided', 'pending'],
  )
  t.false(isCleared(state(events), 'sha256:a'))
  t.throws(() => decideApproval(state(events), made('b', 'approved'), now))
})

test('one rejection or expiry ends the others, and nobody decides after the end', t => {
  const events = ask(state([]), [asked('a'), asked('b', { rule: 'dear' })])
  t.deepEqual(types(decideApproval(state(events), made('a', 'rejected'), now)), [
    'decided',
    'voided',
  ])
  t.deepEqual(expire(state(events), 'a', now), [], 'not yet')
  t.deepEqual(types(expire(state(events), 'a', later)), ['expired', 'voided'])
  const late = t.throws(() => decideApproval(state(events), made('a', 'approved'), later))
  t.like(late, { extras: { code: 'approval.expired' } })
  t.deepEqual(types(voidAll(state(events), 'the job ended')), ['voided', 'voided'])
})

test('after a rejection people ask again, and the newest answer counts; a request that was carried out is made again', t => {
  const events = ask(state([]), [asked('a')])
  events.push(...decideApproval(state(events), made('a', 'rejected'), now))
  events.push(...ask(state(events), [asked('b')]))
  t.false(isCleared(state(events), 'sha256:a'))
  events.push(...decideApproval(state(events), made('b', 'approved'), now))
  t.true(isCleared(state(events), 'sha256:a'))
  events.push(...ask(state(events), [asked('c')]))
  t.false(isCleared(state(events), 'sha256:a'), 'it was carried out once')
  t.deepEqual(
    state(events).map(one => one.state),
    ['rejected', 'approved', 'pending'],
  )
})

test('raises add up to the highest, and fall back one by one', t => {
  const raise = (gpus: number | null, hours: number | null = null) => ({
    ...{ max_concurrent_gpus: gpus, max_concurrent_jobs: null },
    ...{ daily_gpu_hours: hours, max_storage_gb: null },
  })
  const until = later.toISOString()
  const events: QuotaEvent[] = []
  const known = () => folded(quotas, events)
  const add = (request_id: string, to: ReturnType<typeof raise>) => {
    const raised = raiseQuota(known(), { username: 'ada', request_id, raise: to, until }, now)
    events.push(...raised)
    return raised.length
  }
  const gpus = () => limitsOf(known(), 'ada').max_concurrent_gpus
  add('one', raise(16, 5))
  add('two', raise(12))
  t.is(add('two', raise(12)), 0, 'may be repeated')
  t.is(gpus(), 16)
  t.is(limitsOf(known(), 'ada').daily_gpu_hours, 0, 'unlimited stays unlimited')
  events.push(...endRaise(known(), { username: 'ada', request_id: 'one' }))
  t.is(gpus(), 12)
  events.push({ type: 'quota.set', data: { ...limitsOf(known(), 'ada'), max_concurrent_gpus: 2 } })
  t.is(gpus(), 2, 'what an admin sets is the last word')
  t.deepEqual(endRaise(known(), { username: 'ada', request_id: 'two' }), [])
  const ended = { username: 'ada', request_id: 'three', raise: raise(99), until }
  t.deepEqual(raiseQuota(known(), ended, later), [], 'too late')
})
