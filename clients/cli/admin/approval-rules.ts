import { type ApprovalRule, conditions } from '../../../schemas/approvals.ts'
import { segment } from '../api/client.ts'
import { describe } from '../program/describe.ts'
import { usageFailure } from '../program/failure.ts'
import { list } from '../program/list.ts'
import { request } from '../program/request.ts'
import type { CommonOptions, Texts } from '../program/session.ts'

const path = '/api/approval-rules'

export const describeRuleList = describe({ text: 'what waits for an approval, and whose' })

export const ruleList = list<ApprovalRule>({
  path,
  shown: {
    columns: [
      { title: 'NAME', cell: row => row.name },
      { title: 'WHEN', cell: whenText, shrinks: true },
      { title: 'WHO', cell: row => whoText(row) },
      { title: 'EXPIRES', cell: row => `${row.expires_h} h` },
    ],
    none: 'Nothing waits for approval: forge admin approval-rule set adds a rule',
  },
})

const whoText = ({ who: { role, team } }: ApprovalRule) =>
  team === null ? `${role}s` : `the team ${team}`

function whenText({ when: { on, gpus, cost, names } }: ApprovalRule): string {
  const least = gpus ?? cost
  return [
    on.replaceAll('_', ' '),
    ...(least === null ? [] : [`${least} or more`]),
    ...(names.length === 0 ? [] : [names.join(', ')]),
  ].join(': ')
}

export const describeRuleSet = describe({
  text: 'set what waits for an approval',
  operands: { '<name>': 'of the rule', '<on>': { text: '', choices: conditions } },
  options: {
    '--least <number>': 'of GPUs, or of cost',
    '--names <names>': 'licenses or aliases, separated by commas (default all)',
    '--who <role>': 'admin (default), or operator: anybody but the one who asks',
    '--team <name>': 'its members except viewers, instead of a role',
    '--expires-h <hours>': 'until nobody can decide any more (default 72)',
  },
  after: `
Examples:
  forge admin approval-rule set big-jobs gpus --least 16
  forge admin approval-rule set production protected_alias --names production --who operator`,
})

type Options = CommonOptions & Texts<'least' | 'names' | 'who' | 'team' | 'expiresH'>

export const ruleSet = request<ApprovalRule, Options>({
  send: ({ api }, { least, names = '', who = 'admin', team, expiresH = '72' }, name, on = '') =>
    api.put<ApprovalRule>(`${path}/${segment(name)}`, {
      when: {
        on,
        ...(least !== undefined && (on === 'cost' ? { cost: least } : { gpus: countOf(least) })),
        names: names.split(',').filter(Boolean),
      },
      who: team === undefined ? { role: who } : { team },
      expires_h: countOf(expiresH),
    }),
  note: rule => `${rule.name}: ${whenText(rule)}, decided by ${whoText(rule)}`,
})

export const describeRuleRemove = describe({
  text: 'remove a rule; what waits already goes on waiting',
  operands: { '<name>': '' },
})

export const ruleRemove = request<{ name: string }>({
  send: ({ api }, _, name) => api.delete<{ name: string }>(`${path}/${segment(name)}`),
  note: ({ name }) => `${name} is removed`,
})

function countOf(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw usageFailure(`${text}: give a whole number`)
  return Number(text)
}
