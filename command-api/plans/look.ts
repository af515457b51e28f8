import type { Submitter } from '../../auth/caller.ts'
import type { ApprovalRule } from '../../schemas/approvals.ts'
import type { LookedStage, PlannedStage } from '../../schemas/plans.ts'
import type { PlanParts } from './ports.ts'
import { assignmentsOf } from './sweep.ts'

/** What the gates said of each stage, and the rules that let the plan wait for approvals. */
export type Look = { looked: LookedStage[]; rules: ApprovalRule[] }

/** Asks the gates about all stages. */
export async function lookAt(
  parts: Pick<PlanParts, 'lookAtJob' | 'lookAtDeploy'>,
  stages: readonly PlannedStage[],
  caller: Submitter,
): Promise<Look> {
  const looked: LookedStage[] = []
  const rules = new Map<string, ApprovalRule>()
  for (const { spec, sweep, deploy, init_from_stage } of stages) {
    const assignments = sweep ? assignmentsOf(sweep) : [{}]
    const look = { caller, isInherited: init_from_stage !== null, assignments }
    if (spec) {
      const found = await parts.lookAtJob(spec, look)
      looked.push(found.looked)
      for (const rule of found.rules) rules.set(rule.name, rule)
    } else if (deploy) looked.push(await parts.lookAtDeploy(deploy, caller))
  }
  return { looked, rules: [...rules.values()] }
}

type Labelled<T> = T & { stage: string }

/** What the gates said, with the name of the stage. */
export const labelled = <T extends object>(
  stages: readonly Pick<PlannedStage, 'name'>[],
  looked: readonly LookedStage[],
  of: (one: LookedStage) => readonly T[],
): Labelled<T>[] =>
  looked.flatMap((one, nth) => of(one).map(item => ({ ...item, stage: stages[nth]?.name ?? '' })))
