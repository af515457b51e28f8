import { type Static, Type } from 'typebox'
import { approvalRuleFacts } from '../schemas/approvals.ts'
import { aggregate, type EventOf, event } from './event.ts'

/** From now on, what fits the rule waits until somebody approves it. */
export const approvalRuleSet = event(
  'approval_rule.set',
  Type.Object({ name: Type.String(), ...approvalRuleFacts }),
  ({ name, when, who: approver }, who) =>
    `${who} set the approval rule ${name}: ${when.on.replaceAll('_', ' ')}, decided by ${approver.team === null ? `${approver.role}s` : `the team ${approver.team}`}`,
)

/** Approvals that were asked for under it stay. */
export const approvalRuleRemoved = event(
  'approval_rule.removed',
  Type.Object({ name: Type.String() }),
  ({ name }, who) => `${who} removed the approval rule ${name}`,
)

const events = [approvalRuleSet, approvalRuleRemoved] as const
export type ApprovalRuleEvent = EventOf<(typeof events)[number]>

/** Null: there is no such rule. */
export type SetRule = Static<typeof approvalRuleSet.data> | null

const evolve = (_: SetRule, event: ApprovalRuleEvent): SetRule =>
  event.type === 'approval_rule.set' ? event.data : null

export const approvalRules = aggregate('approval_rule', { events, initial: null, evolve })
export const approvalRuleAt = (name: string) => approvalRules.at(name)
