import type { Static } from 'typebox'
import type {
  PlanCreated,
  PlanDetail,
  PlanRow,
  planCancelled,
  planSubmitted,
} from '../../../schemas/plans.ts'
import { segment } from '../api/client.ts'
import { describe } from '../program/describe.ts'
import { list } from '../program/list.ts'
import { request } from '../program/request.ts'
import type { CommonOptions, Texts } from '../program/session.ts'
import { type Fact, showFacts } from '../program/show-one.ts'
import { counted } from '../terminal/amounts.ts'
import { type Column, showTable } from '../terminal/table.ts'

export const path = '/api/plans'
const pathOf = (plan = '') => `${path}/${segment(plan)}`
const onePlan = { '<plan>': 'its id, as `forge plan ls` shows it' }

export const describePlanList = describe({ text: 'plans of your projects, newest first' })

export const planList = list<PlanRow>({
  path,
  shown: {
    columns: [
      { title: 'PLAN', cell: row => row.plan_id },
      { title: 'NAME', cell: row => row.name, shrinks: true },
      { title: 'PROJECT', cell: row => row.project },
      { title: 'STATE', cell: row => row.state },
      { title: 'STAGES', cell: row => doneOf(row), align: 'right' },
      { title: 'COST', cell: row => row.estimate?.cost ?? '-', align: 'right' },
      { title: 'OWNER', cell: row => row.owner, drops: true },
    ],
    none: 'No plans yet. Make one: forge plan -f job.yaml --save',
  },
})

const doneOf = ({ stages }: Pick<PlanRow, 'stages'>) =>
  `${stages.filter(({ state }) => state === 'succeeded').length}/${stages.length}`

export const describePlanShow = describe({
  text: 'a plan: its stages and how far they are, and what the gates say',
  operands: onePlan,
})

export const planShow = request<PlanDetail>({
  send: ({ api }, _, plan) => api.get<PlanDetail>(pathOf(plan)),
  data(plan, { terminal }) {
    showFacts(terminal, factsOf(plan), 12)
    terminal.data('')
    showTable(terminal, stageColumns, plan.stages)
    return [
      ...refusalsOf(plan),
      ...plan.moved.map(one => `changed: ${one.name}: ${one.from ?? 'none'} → ${one.to ?? 'none'}`),
    ]
  },
})

const stageColumns: Column<PlanDetail['stages'][number]>[] = [
  { title: 'STAGE', cell: row => row.name },
  { title: 'KIND', cell: row => row.kind },
  { title: 'STATE', cell: row => row.state },
  { title: 'RUNS', cell: row => String(row.runs), align: 'right' },
  { title: 'SUCCEEDED', cell: row => String(row.succeeded), align: 'right' },
  { title: 'FAILED', cell: row => String(row.failed), align: 'right' },
  { title: 'BEST', cell: row => row.best_run_id ?? '-', drops: true },
  { title: 'FROM', cell: row => row.init_from_stage ?? '-', drops: true },
]

const factsOf = (plan: PlanDetail): Fact[] => [
  ['plan', plan.plan_id],
  ['name', plan.name],
  ['project', plan.project],
  ['state', plan.reason === null ? plan.state : `${plan.state}: ${plan.reason}`],
  ['made by', `${plan.owner}, ${plan.created_at}`],
  plan.submitted_by === null
    ? ['until', plan.expires_at]
    : ['submitted by', `${plan.submitted_by}, ${plan.submitted_at}`],
  ['estimate', costOf(plan)],
  ['digest', plan.digest],
]

const costOf = ({ estimate }: Pick<PlanCreated, 'estimate'>): string =>
  estimate === null
    ? 'none yet'
    : `${estimate.gpu_hours} GPU hours, ${estimate.cost} ${estimate.currency} (${estimate.basis})`

const refusalsOf = ({ gates }: Pick<PlanCreated, 'gates'>): string[] =>
  gates.flatMap(({ ok, stage, gate, detail }) => (ok ? [] : [`✗ ${stage}: ${gate}: ${detail}`]))

/** What a new plan prints besides its id. */
export const notesOnPlan = (plan: PlanCreated): string[] => [
  ...refusalsOf(plan),
  ...plan.warnings.map(({ stage, detail }) => `! ${stage}: ${detail}`),
  `estimate: ${costOf(plan)}`,
  plan.state === 'draft'
    ? 'Gates refuse it; it can be submitted once they pass'
    : `Submit it: forge plan submit ${plan.plan_id}`,
]

type Submitted = Static<typeof planSubmitted>

export const describePlanSubmit = describe({
  text: 'submit a plan, unless something changed since it was made; continues a blocked one',
  operands: onePlan,
  options: {
    '--accept <digest>': 'the digest that the refusal names: submit the plan with its changes',
  },
})

export const planSubmit = request<Submitted, CommonOptions & Texts<'accept'>>({
  send: ({ api }, { accept }, plan) =>
    api.post<Submitted>(`${pathOf(plan)}/submit`, accept === undefined ? {} : { accept }),
  data: ({ submitted_run_ids }) => submitted_run_ids,
  note: ({ plan_id, submitted_run_ids, state }) => [
    `${plan_id} is ${state}, with ${counted(submitted_run_ids.length, 'run')}`,
    `forge plan show ${plan_id}`,
  ],
})

export const describePlanCancel = describe({
  text: 'cancel a plan: its runs are stopped, and nothing more of it starts',
  operands: onePlan,
})

type Cancelled = Static<typeof planCancelled>

export const planCancel = request<Cancelled>({
  send: ({ api }, _, plan) => api.post<Cancelled>(`${pathOf(plan)}/cancel`, {}),
  note: ({ plan_id }) => `${plan_id} was cancelled`,
})
