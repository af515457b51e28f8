import type { Submitter } from '../../auth/caller.ts'
import type { LookedStage, PlannedStage } from '../../schemas/plans.ts'
import type { PlanParts } from './ports.ts'
import { assignmentsOf } from './sweep.ts'

/** Asks the gates about all stages. */
export async function lookAt(
  parts: Pick<PlanParts, 'lookAtJob' | 'lookAtDeploy'>,
  stages: readonly PlannedStage[],
  caller: Submitter,
): Promise<LookedStage[]> {
  const looked: LookedStage[] = []
  for (const { spec, sweep, deploy, init_from_stage } of stages) {
    const assignments = sweep ? assignmentsOf(sweep) : [{}]
    const look = { caller, isInherited: init_from_stage !== null, assignments }
    if (spec) looked.push(await parts.lookAtJob(spec, look))
    else if (deploy) looked.push(await parts.lookAtDeploy(deploy, caller))
  }
  return looked
}

type Labelled<T> = T & { stage: string }

/** What the gates said, with the name of the stage. */
export const labelled = <T extends object>(
  stages: readonly Pick<PlannedStage, 'name'>[],
  looked: readonly LookedStage[],
  of: (one: LookedStage) => readonly T[],
): Labelled<T>[] =>
  looked.flatMap((one, nth) => of(one).map(item => ({ ...item, stage: stages[nth]?.name ?? '' })))
