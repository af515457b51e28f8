import test from 'ava'
import { ruleOf } from '../../command-api/approvals/rules.ts'
import { rulesFor } from '../../command-api/jobs/admission/approval.ts'
import type { AdmissionFacts } from '../../command-api/jobs/admission/facts.ts'
import type { ApprovalRule } from '../../schemas/approvals.ts'
import { Invalid } from '../../schemas/validate.ts'
import { factsOf } from '../jobs/facts.ts'

const rule = (when: Partial<ApprovalRule['when']> & Pick<ApprovalRule['when'], 'on'>) => ({
  name: when.on,
  when: { gpus: null, cost: null, names: [], ...when },
  who: { role: 'admin' as const, team: null },
  expires_h: 72,
})

const applies = (
  when: Parameters<typeof rule>[0],
  spec: Record<string, unknown> = {},
  changed: Partial<AdmissionFacts> = {},
) => rulesFor(factsOf(spec, { approvalRules: [rule(when)], ...changed })).length === 1

const gpus = (gpus_per_node: number) => ({ resources: { gpus_per_node, nodes: 2 } })

test('a job waits for its GPUs over all nodes', t => {
  t.true(applies({ on: 'gpus', gpus: 8 }, gpus(4)))
  t.false(applies({ on: 'gpus', gpus: 9 }, gpus(4)))
})

test('a job waits for its cost, capped by max_cost; without either nobody knows it', t => {
  const cost = { on: 'cost', cost: '94.5' } as const
  const past = { runs: 10, gpu_hours: 31.5 }
  t.true(applies(cost, {}, { past }))
  t.false(applies({ on: 'cost', cost: '94.51' }, {}, { past }))
  t.true(applies(cost), 'unknown')
  t.false(applies(cost, { limits: { max_cost: '94' } }))
  t.true(applies(cost, { limits: { max_cost: '95' } }))
})

test('a job waits for the labels of its datasets', t => {
  const labels = [{ ref: 'ada/a@1', source: 'reflow', license: 'cc-by-nc-4.0' }]
  t.true(applies({ on: 'reflow_data' }, {}, { labels }))
  t.false(applies({ on: 'reflow_data' }))
  t.true(applies({ on: 'dataset_license' }, {}, { labels }))
  t.true(applies({ on: 'dataset_license', names: ['cc-by-nc-4.0'] }, {}, { labels }))
  t.false(applies({ on: 'dataset_license', names: ['mit'] }, {}, { labels }))
})

test('rules about other things let jobs start, and deployments never wait', t => {
  for (const on of ['protected_alias', 'promotion', 'quota_raise'] as const)
    t.false(applies({ on }), on)
  const serving = { args: [] } as unknown as AdmissionFacts['serving']
  t.false(applies({ on: 'gpus', gpus: 1 }, gpus(4), { serving }))
})

test('a rule has the value of its condition and no other', t => {
  const given = (when: object) =>
    ruleOf('one', {
      ...rule({ on: 'gpus' }),
      ...{ who: { role: 'admin' }, when: { names: [], ...when } },
    } as never)
  const faults = (when: object) =>
    t.throws(() => given(when), { instanceOf: Invalid })?.errors.map(({ loc }) => loc.join('.'))
  t.deepEqual(faults({ on: 'gpus' }), ['body.when.gpus'])
  t.deepEqual(faults({ on: 'cost', gpus: 3 }), ['body.when.gpus', 'body.when.cost'])
  t.deepEqual(faults({ on: 'promotion', names: ['a'] }), ['body.when.names'])
  t.deepEqual(given({ on: 'gpus', gpus: 3 }).when, rule({ on: 'gpus', gpus: 3 }).when)
})
