import { type Route, route } from '../../auth/route.ts'
import { approvalsOf } from '../../events/approvals.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  type ApprovalRule,
  type QuotaRaise,
  quotaRequestInput,
  quotaRequestRow,
} from '../../schemas/approvals.ts'
import type { QuotaInput } from '../../schemas/quotas.ts'
import type { ValidationError } from '../../schemas/shared.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { Invalid } from '../../schemas/validate.ts'
import { create, fresh, type Work } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { requestApprovals, rulesOn } from '../rules/approval-requests.ts'
import type { ApprovalPorts } from './ports.ts'

/** Applies while no rule says otherwise. */
const usualRule: Pick<ApprovalRule, 'name' | 'who' | 'expires_h'> = {
  name: 'quota-raises',
  who: { role: 'admin', team: null },
  expires_h: 72,
}

const longestMs = 366 * 86_400_000
/** Requests of a person in 30 days. */
const mostRequests = 50

export const quotaRequestRoute = (deps: Deps, { currentQuota }: ApprovalPorts): Route =>
  route({
    method: 'POST',
    path: '/api/quota-requests',
    credential: 'person',
    reach: 'self',
    tag: 'approvals',
    summary: 'Ask for a higher quota until a date; it falls back afterwards',
    body: quotaRequestInput,
    response: quotaRequestRow,
    refusals: ['conflict'],
    async handle(request) {
      const { username } = request.caller
      const { until: end, reason, ...wanted } = request.body
      const raise = { ...none, ...wanted }
      const until = checkedEnd(end, deps.now())
      const request_id = deps.newId('qrq')
      const subject = { type: 'quota' as const, id: request_id }
      return create(deps, request, fresh(approvalsOf(subject)), {
        locks: [`quota requests of ${username}`],
        async make(work) {
          await refuseMany(work, username)
          const current = await currentQuota(work.tx, username)
          refuseLower(current, raise)
          const data = { request_id, username, raise, until, reason }
          const rules = await rulesOn(work.tx, 'quota_raise')
          const [approval_id = ''] = await requestApprovals(deps, work, {
            ...{ subject, requested_by: username, isNew: true },
            title: `a higher quota of ${username}`,
            content: { username, raise, until, reason, current },
            rules: rules.length === 0 ? [usualRule] : rules,
            first: [{ type: 'quota.requested', data }],
          })
          return {
            ...{ request_id, username, ...raise, reason, approval_id },
            until: toTimestamp(new Date(until)),
            requested_at: toTimestamp(work.now),
            state: 'pending' as const,
          }
        },
      })
    },
  })

const none: QuotaRaise = {
  max_concurrent_gpus: null,
  max_concurrent_jobs: null,
  daily_gpu_hours: null,
  max_storage_gb: null,
}

const fault = (field: string, msg: string, input: unknown): ValidationError => ({
  loc: ['body', field],
  msg: `Value error, ${msg}`,
  type: 'value_error',
  input,
})

function checkedEnd(until: string, now: Date): string {
  const at = Date.parse(until)
  if (at <= now.getTime()) throw new Invalid([fault('until', 'it is in the past', until)])
  if (at > now.getTime() + longestMs)
    throw new Invalid([fault('until', 'a raise lasts a year at most', until)])
  return new Date(at).toISOString()
}

/** Each limit must be higher than now, and there must be one. */
function refuseLower(current: QuotaInput, raise: QuotaRaise): void {
  const asked = Object.entries(raise).filter(([, value]) => value !== null)
  const now = current as unknown as Record<string, number>
  const errors = asked.flatMap(([limit, value]) => {
    const isUnlimited =
      now[limit] === 0 && (limit === 'daily_gpu_hours' || limit === 'max_storage_gb')
    if (isUnlimited) return [fault(limit, 'it is unlimited already', value)]
    return Number(value) > Number(now[limit])
      ? []
      : [fault(limit, `it is ${now[limit]} already`, value)]
  })
  if (asked.length === 0)
    errors.push(fault('max_concurrent_gpus', 'name at least one limit to raise', null))
  if (errors.length > 0) throw new Invalid(errors)
}

async function refuseMany({ tx, now }: Work, username: string): Promise<void> {
  const { rowCount } = await tx.query(
    `select from write.approval where subject_type = 'quota' and requested_by = $1
        and requested_at > $2::timestamptz - interval '30 days' limit ${mostRequests}`,
    [username, now],
  )
  if (rowCount === mostRequests)
    throw new Refusal('conflict', `You asked ${mostRequests} times in 30 days, the maximum`, {
      code: 'quota.too_many_requests',
    })
}
