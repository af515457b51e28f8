import { isDeepStrictEqual } from 'node:util'
import { type Route, route } from '../../auth/route.ts'
import {
  type ApprovalRuleEvent,
  approvalRuleAt,
  type SetRule,
} from '../../events/approval-rules.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  type ApprovalRule,
  type ApprovalRuleInput,
  approvalRuleGone,
  approvalRuleInput,
  approvalRulePath,
  approvalRuleRow,
} from '../../schemas/approvals.ts'
import type { ValidationError } from '../../schemas/shared.ts'
import { Invalid } from '../../schemas/validate.ts'
import { commit } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { teamExists } from '../rules/approval-requests.ts'

/** Every submit asks all of them. */
const maxRules = 50

export const ruleRoutes = (deps: Deps): Route[] => [
  route({
    method: 'PUT',
    path: '/api/approval-rules/{name}',
    credential: 'admin',
    tag: 'approvals',
    summary: 'Set what waits for an approval, and whose',
    params: approvalRulePath,
    body: approvalRuleInput,
    response: approvalRuleRow,
    refusals: ['conflict'],
    async handle(request) {
      const rule = ruleOf(request.params.name, request.body)
      await commit(deps, request, approvalRuleAt(rule.name), {
        locks: ['approval rules'],
        decide: known => setRule(known, rule),
        async alongside(tx, decided) {
          await refuseUnknownTeam(tx, rule)
          await saveRule(tx, decided)
        },
      })
      return rule
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/approval-rules/{name}',
    credential: 'admin',
    tag: 'approvals',
    summary: 'Remove an approval rule; what waits for it already goes on waiting',
    params: approvalRulePath,
    response: approvalRuleGone,
    refusals: ['not_found'],
    async handle(request) {
      const { name } = request.params
      await commit(deps, request, approvalRuleAt(name), {
        decide: known => removeRule(known, name),
        alongside: saveRule,
      })
      return { ok: true as const, name }
    },
  }),
]

/** Which value each condition needs; the others must be absent. */
const valueFor: Partial<Record<ApprovalRule['when']['on'], 'gpus' | 'cost'>> = {
  gpus: 'gpus',
  cost: 'cost',
}
const takesNames: readonly string[] = ['dataset_license', 'protected_alias']

export function ruleOf(name: string, { when, who, expires_h }: ApprovalRuleInput): ApprovalRule {
  const { on, gpus = null, cost = null, names } = when
  const errors: ValidationError[] = []
  for (const [field, value] of Object.entries({ gpus, cost })) {
    if (valueFor[on] === field && value === null)
      errors.push({ loc: ['body', 'when', field], msg: 'Field required', type: 'missing' })
    if (valueFor[on] !== field && value !== null) errors.push(misplaced(field, on, value))
  }
  if (names.length > 0 && !takesNames.includes(on)) errors.push(misplaced('names', on, names))
  const { role = null, team = null } = who
  if ((role === null) === (team === null))
    errors.push({
      loc: ['body', 'who'],
      msg: 'Value error, name either a role or a team',
      type: 'value_error',
      input: who,
    })
  if (errors.length > 0) throw new Invalid(errors)
  return { name, when: { on, gpus, cost, names }, who: { role, team }, expires_h }
}

const misplaced = (field: string, on: string, input: unknown): ValidationError => ({
  loc: ['body', 'when', field],
  msg: `Value error, a rule on ${on} has no ${field}`,
  type: 'value_error',
  input,
})

export const setRule = (known: SetRule, rule: ApprovalRule): ApprovalRuleEvent[] =>
  isDeepStrictEqual(known, rule) ? [] : [{ type: 'approval_rule.set', data: rule }]

export function removeRule(known: SetRule, name: string): ApprovalRuleEvent[] {
  if (known === null) throw new Refusal('not_found', `No such approval rule: ${name}`)
  return [{ type: 'approval_rule.removed', data: { name } }]
}

async function saveRule(
  tx: Transaction,
  { events }: { events: readonly ApprovalRuleEvent[] },
): Promise<void> {
  for (const { type, data } of events)
    if (type === 'approval_rule.removed')
      await tx.query('delete from write.approval_rule where name = $1', [data.name])
    else await insertRule(tx, data)
}

async function insertRule(tx: Transaction, { name, when, who, expires_h }: ApprovalRule) {
  const { rowCount } = await tx.query(
    `insert into write.approval_rule (name, "when", who, expires_h)
     select $1, $2, $3, $4 where (select count(*) from write.approval_rule where name <> $1) < ${maxRules}
     on conflict (name) do update set "when" = excluded."when", who = excluded.who, expires_h = excluded.expires_h`,
    [name, when, who, expires_h],
  )
  if (rowCount === 0)
    throw new Refusal('conflict', `There are ${maxRules} approval rules, the maximum`)
}

async function refuseUnknownTeam(tx: Transaction, { who: { team } }: ApprovalRule): Promise<void> {
  if (team === null || (await teamExists(tx, team))) return
  const loc = ['body', 'who', 'team']
  throw new Invalid([
    { loc, msg: `Value error, no such team: ${team}`, type: 'value_error', input: team },
  ])
}
