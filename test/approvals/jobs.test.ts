import test from 'ava'
import type { ApprovalDetail, ApprovalRow } from '../../schemas/approvals.ts'
import type { Quota } from '../../schemas/quotas.ts'
import { asExecutor } from '../servers/as-executor.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import { setPrice, settled, submit, withoutExecutor } from '../usage/jobs-at-times.ts'

const shared = sharedForge(withoutExecutor)

type Reply = { state: string; changed: boolean; code?: string }
type Job = { state: string; state_reason: string | null }

const decide = (forge: Forge, id: string, decision: string, token = forge.token) =>
  forge.call<Reply>('POST', `/api/approvals/${id}/decide`, {
    token,
    body: { decision, comment: 'looked at it' },
  })

const setRule = (forge: Forge, name: string, when: object, role = 'admin') =>
  forge.call('PUT', `/api/approval-rules/${name}`, { body: { when, who: { role } } })

async function approvalsOf(forge: Forge, subject: string, query = ''): Promise<ApprovalRow[]> {
  await settled(forge)
  const { body } = await forge.call<ApprovalRow[]>(
    'GET',
    `/api/approvals?subject=${subject}${query}`,
  )
  return body
}

async function onlyOne(forge: Forge, subject: string): Promise<string> {
  const pending = await approvalsOf(forge, subject, '&state=pending')
  if (pending.length !== 1 || !pending[0]) throw new Error(`${pending.length} approvals`)
  return pending[0].approval_id
}

const jobOf = async (forge: Forge, run_id: string) => {
  await settled(forge)
  return (await forge.call<Job>('GET', `/api/jobs/${run_id}`)).body
}

test.serial('a job waits for its approval, which shows exactly what will run', async t => {
  const forge = await shared()
  await setPrice(forge, '1')
  const alice = await signedIn(forge, 'alice')
  const eve = await signedIn(forge, 'eve')
  await setRule(forge, 'big', { on: 'gpus', gpus: 2 })
  const run_id = await submit(forge, 'demo', alice)
  t.like(await jobOf(forge, run_id), { state: 'held', state_reason: 'approval' })
  t.is(await asExecutor(forge.pool).schedule(run_id, []), 'gone')
  const id = await onlyOne(forge, run_id)
  const { body: shown } = await forge.call<ApprovalDetail>('GET', `/api/approvals/${id}`)
  t.like(shown.content, { gpus: 2, project: 'demo', owner: 'alice', profile: 'spare' })
  t.like(shown, { rule: 'big', requested_by: 'alice', previous: null, state: 'pending' })
  t.is((await decide(forge, id, 'approved', alice)).body.code, 'approval.own')
  t.is((await decide(forge, id, 'approved', eve)).status, 404, 'hidden')
  t.is((await forge.call('GET', `/api/approvals/${id}`, { token: eve })).status, 404)
  const missing = await decide(forge, 'apr_none', 'approved', eve)
  t.is(missing.status, 404)
  t.deepEqual((await decide(forge, id, 'approved')).body, {
    ...{ approval_id: id, state: 'approved', changed: true },
  } as never)
  t.like((await decide(forge, id, 'approved')).body, { changed: false }, 'nothing the second time')
  const other = await decide(forge, id, 'rejected')
  t.is(other.status, 409)
  t.is(other.body.code, 'approval.approved')
  t.is((await jobOf(forge, run_id)).state, 'queued')
  t.is(await asExecutor(forge.pool).schedule(run_id, []), 'scheduled')
  await until('alice is notified', 20_000, async () => {
    const { body } = await forge.call<{ kind: string }[]>('GET', '/api/notifications', {
      token: alice,
    })
    return body.some(({ kind }) => kind === 'approval_decided')
  })
})

test.serial('a rejected job ends as refused, and one that ended needs no approval', async t => {
  const forge = await shared()
  const bob = await signedIn(forge, 'bob')
  await setPrice(forge, '1')
  await setRule(forge, 'big', { on: 'gpus', gpus: 2 })
  const rejected = await submit(forge, 'bobs', bob)
  t.is((await decide(forge, await onlyOne(forge, rejected), 'rejected')).status, 200)
  t.is((await jobOf(forge, rejected)).state, 'stopped')
  const { rows } = await forge.pool.query(
    `select data ->> 'reason' as reason, data ->> 'message' as message from write.event
      where stream = $1 and type = 'job.stopped'`,
    [`job-${rejected}`],
  )
  t.deepEqual(rows, [{ reason: 'refused', message: 'admin rejected it: looked at it' }])
  const stopped = await submit(forge, 'bobs', bob)
  const id = await onlyOne(forge, stopped)
  await forge.call('POST', `/api/jobs/${stopped}/stop`, { token: bob })
  const late = await decide(forge, id, 'approved')
  t.is(late.status, 409)
  t.is(late.body.code, 'approval.voided')
  t.is((await approvalsOf(forge, stopped))[0]?.state, 'voided')
})

test.serial('a changed priority voids approvals, before and after the decision', async t => {
  const forge = await shared()
  const carol = await signedIn(forge, 'carol')
  await setPrice(forge, '1')
  await setRule(forge, 'big', { on: 'gpus', gpus: 2 })
  const run_id = await submit(forge, 'carols', carol)
  const first = await onlyOne(forge, run_id)
  const change = (priority: number) =>
    forge.call('PATCH', `/api/jobs/${run_id}`, { token: carol, body: { priority } })
  t.is((await change(5)).status, 200)
  t.is((await decide(forge, first, 'approved')).status, 409)
  const second = await onlyOne(forge, run_id)
  t.is((await decide(forge, second, 'approved')).status, 200)
  t.is((await jobOf(forge, run_id)).state, 'queued')
  t.like((await change(6)).body, { state: 'held' })
  t.is(await asExecutor(forge.pool).schedule(run_id, []), 'gone')
  t.is((await decide(forge, await onlyOne(forge, run_id), 'approved')).status, 200)
  t.is(await asExecutor(forge.pool).schedule(run_id, []), 'scheduled')
})

test.serial('a raise of a quota is applied when approved, and falls back', async t => {
  const forge = await shared()
  const dan = await signedIn(forge, 'dan')
  const quota = async () =>
    (await forge.call<Quota>('GET', '/api/admin/quotas/dan')).body.max_concurrent_gpus
  const ask = (body: object) =>
    forge.call<{ request_id: string; approval_id: string }>('POST', '/api/quota-requests', {
      token: dan,
      body: { reason: 'a paper', until: new Date(Date.now() + 86_400_000).toISOString(), ...body },
    })
  t.is((await ask({})).status, 422)
  t.is((await ask({ max_concurrent_gpus: 8 })).status, 422, 'he has 8')
  t.is((await ask({ max_concurrent_gpus: 9, until: '2020-01-01T00:00:00Z' })).status, 422)
  const { body } = await ask({ max_concurrent_gpus: 32 })
  t.is((await decide(forge, body.approval_id, 'approved')).status, 200)
  await settled(forge)
  t.is(await quota(), 32)
  await forge.pool.query(`update write.duty set due_at = now() where reactor = 'end-raises'`)
  await until('the quota falls back', 20_000, async () => (await quota()) === 8)
  const { body: requests } = await forge.call<object[]>('GET', '/api/quota-requests', {
    token: dan,
  })
  t.like(requests[0], { state: 'approved', max_concurrent_gpus: 32 })
})
