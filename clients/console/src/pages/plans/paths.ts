import type { PlanDetail } from '../../../../../schemas/plans.ts'

export type { PlanDetail as Detail, PlanRow as Row } from '../../../../../schemas/plans.ts'
export type Stage = PlanDetail['stages'][number]

export const path = '/api/plans'
export const pathOf = (plan_id: string): string => `${path}/${encodeURIComponent(plan_id)}`

/** The runs of a stage, in the search grammar. */
export const searchOf = (plan_id: string, stage: string): string =>
  `label.plan:${plan_id} label.plan-stage:${stage}`
