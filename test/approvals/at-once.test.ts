import test from 'ava'
import { approvalExpiry } from '../../command-api/approvals/perform.ts'
import type { ApprovalSubjects } from '../../command-api/approvals/ports.ts'
import type { Deps } from '../../command-api/deps.ts'
import { record } from '../../command-api/effects/outcome.ts'
import { approvedJobs } from '../../command-api/jobs/approval.ts'
import { digestOf } from '../../platform/digest.ts'
import type { ApprovalRow } from '../../schemas/approvals.ts'
import { asExecutor } from '../servers/as-executor.ts'
import { eventStoreOn } from '../servers/event-store.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { signedIn } from '../servers/signed-in.ts'
import { setPrice, settled, submit, withoutExecutor } from '../usage/jobs-at-times.ts'

const shared = sharedForge(withoutExecutor)

const jobs = 50
const cause = { actor: { type: 'system', id: 'test', via: 'test' }, requestId: 'test' } as const

/** Expires an approval as its duty would, 100 hours later. */
async function expire(forge: Forge, run_id: string, approval_id: string): Promise<void> {
  const store = eventStoreOn(forge.pool)
  const now = () => new Date(Date.now() + 100 * 3_600_000)
  const port = approvedJobs({ store })
  const subjects: ApprovalSubjects = {
    ...{ job: port, model_alias: port, plan: port },
    ...{ promotion: port, quota: port },
  }
  const deps = { store, now } as unknown as Deps
  const payload = { type: 'job', id: run_id, approval_id }
  const duty = { duty_id: 'test', payload, attempt: 1, due_at: now() }
  const reactor = approvalExpiry(() => subjects)
  const outcome = await reactor.perform(duty, deps, AbortSignal.timeout(30_000))
  await record(deps, cause, { outcome, unless: async () => false })
}

type Event = { position: string; type: string; data: Record<string, never> & Asked }
type Asked = {
  approval_id: string
  priority: number
  decision: string
  subject: { digest: string }
  content: { priority: number }
}

const eventsOf = async ({ pool }: Forge, run_id: string) => {
  const { rows } = await pool.query<Event>(
    `select position, type, data from write.event where stream in ($1, $2) order by position`,
    [`job-${run_id}`, `approval-job:${run_id}`],
  )
  return rows
}

type Live = Map<string, Asked & { isApproved: boolean }>

/** Keeps the approvals that count after each event. */
function follow(live: Live, { type, data }: Event): void {
  const { approval_id } = data
  if (type === 'approval.requested') live.set(approval_id, { ...data, isApproved: false })
  if (type === 'approval.voided' || type === 'approval.expired') live.delete(approval_id)
  const found = live.get(approval_id)
  if (found && type === 'approval.decided') found.isApproved = data.decision === 'approved'
}

/** How often a job started; throws if nobody had approved what started. */
function startsOf(events: readonly Event[]): number {
  let starts = 0
  let priority = 0
  const live: Live = new Map()
  for (const event of events) {
    follow(live, event)
    if ('priority' in event.data) priority = event.data.priority
    if (event.type !== 'job.scheduled') continue
    starts++
    const allowed = [...live.values()].some(
      ({ isApproved, content, subject }) =>
        isApproved && content.priority === priority && digestOf(content) === subject.digest,
    )
    if (!allowed) throw new Error(`a job started unapproved: ${JSON.stringify(events)}`)
  }
  return starts
}

test('200 decisions, edits and expiries at once start nothing that nobody approved', async t => {
  const forge = await shared()
  await setPrice(forge, '1')
  const quota = { max_concurrent_gpus: 1000, max_concurrent_jobs: 1000 }
  const alice = await signedIn(forge, 'alice')
  await forge.call('POST', '/api/admin/quotas', { body: { username: 'alice', ...quota } })
  await forge.call('PUT', '/api/approval-rules/big', {
    body: { when: { on: 'gpus', gpus: 1 }, who: { role: 'operator' } },
  })
  const bob = await signedIn(forge, 'bob')
  await submit(forge, 'demo', alice)
  const runs = await Promise.all(
    Array.from({ length: jobs - 1 }, () => submit(forge, 'demo', alice)),
  )
  await settled(forge)
  const { body: waiting } = await forge.call<ApprovalRow[]>('GET', '/api/approvals?limit=500')
  t.is(waiting.length, jobs)
  const decide = (id: string, decision: string, token: string) =>
    forge.call('POST', `/api/approvals/${id}/decide`, { token, body: { decision } })
  const executor = asExecutor(forge.pool)
  const act = async ({ approval_id, subject }: ApprovalRow, nth: number) => {
    const { id } = subject
    const path = `/api/jobs/${id}`
    const edit = () => forge.call('PATCH', path, { token: alice, body: { priority: 1 + nth } })
    const acts = [
      () => decide(approval_id, nth % 3 === 0 ? 'rejected' : 'approved', bob),
      () => decide(approval_id, 'approved', forge.token),
      edit,
      nth % 4 === 0 ? () => expire(forge, id, approval_id) : edit,
    ]
    const turned = [...acts.slice(nth % 4), ...acts.slice(0, nth % 4)]
    await Promise.all([...turned.map(one => one()), executor.schedule(id, [])])
  }
  await Promise.all(waiting.map(act))
  const tries = [...runs].map(run_id => executor.schedule(run_id, []))
  await Promise.all(tries)
  await settled(forge)
  const { body: again } = await forge.call<ApprovalRow[]>(
    'GET',
    '/api/approvals?limit=500&state=pending',
  )
  t.true(again.length > 0, 'edits asked again')
  for (const { subject, approval_id } of again) {
    await decide(approval_id, 'approved', bob)
    await executor.schedule(subject.id, [])
  }
  let starts = 0
  for (const { subject } of waiting) starts += startsOf(await eventsOf(forge, subject.id))
  t.log(`${starts} of ${jobs} jobs started`)
  t.true(starts > 0)
})
