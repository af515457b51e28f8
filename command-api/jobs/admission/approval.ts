import type { ApprovalRule } from '../../../schemas/approvals.ts'
import { estimateOf } from './estimate.ts'
import { type AdmissionFacts, requestOf } from './facts.ts'

/**
 * The rules that let the job wait until somebody approves it. Engines of deployments never wait: their promotion may. `runs`: as many
 * as are asked for together.
 */
export function rulesFor(facts: AdmissionFacts, runs = 1): ApprovalRule[] {
  return facts.serving === null
    ? facts.approvalRules.filter(({ when }) => applies(when, facts, runs))
    : []
}

function applies(
  { on, gpus, cost, names }: ApprovalRule['when'],
  facts: AdmissionFacts,
  runs: number,
): boolean {
  switch (on) {
    case 'gpus':
      return requestOf(facts).gpus >= (gpus ?? 1)
    case 'cost':
      return mostCost(facts) * runs >= Number(cost)
    case 'reflow_data':
      return facts.labels.some(({ source }) => source === 'reflow')
    case 'dataset_license':
      return facts.labels.some(
        ({ license }) => license !== null && (names.length === 0 || names.includes(license)),
      )
    default:
      return false
  }
}

/** Nobody knows what a job without estimate and limits costs. */
function mostCost(facts: AdmissionFacts): number {
  const { max_cost } = facts.spec.spec.limits
  const estimated = estimateOf(facts)?.cost ?? Number.POSITIVE_INFINITY
  return Math.min(Number(estimated), Number(max_cost ?? Number.POSITIVE_INFINITY))
}
