import type { Submitter } from '../../auth/caller.ts'
import type { ApprovalRule } from '../../schemas/approvals.ts'
import type { JobSpec } from '../../schemas/jobs/jobspec.ts'
import type { JobState } from '../../schemas/jobs/states.ts'
import type { LookedStage, PlannedStage, SeenFact } from '../../schemas/plans.ts'
import type { Params } from './sweep.ts'

export type Deploy = NonNullable<PlannedStage['deploy']>

/** `isInherited`: its starting point comes from an earlier stage and is not compared. */
export type Look = { caller: Submitter; isInherited: boolean }

export type PlannedJob = Look & {
  run_id: string
  spec: JobSpec
  /** Whether its plan was approved, so that it need not wait for an approval itself. */
  isApproved: boolean
  /** Throws if the findings of the gates differ from the accepted ones; then nothing is submitted. */
  check(seen: readonly SeenFact[]): void
}

/** What a gate relied on changed since the plan was accepted. */
export class Moved extends Error {
  readonly seen: readonly SeenFact[]
  constructor(seen: readonly SeenFact[]) {
    super('what the plan relies on has changed')
    this.seen = seen
  }
}

/** The jobs and deployments that plans start; plans know no more of them than this. */
export type PlanParts = {
  /** Asks all gates; `assignments` are the parameters of the runs of a sweep. */
  lookAtJob(
    spec: JobSpec,
    look: Look & { assignments: readonly Params[] },
  ): Promise<{ looked: LookedStage; rules: ApprovalRule[] }>
  lookAtDeploy(deploy: Deploy, caller: Submitter): Promise<LookedStage>
  /** Does nothing if the run exists. Throws a `Refusal` if a gate refuses it. */
  submit(job: PlannedJob): Promise<void>
  /** Runs that do not exist have none. */
  statesOf(run_ids: readonly string[]): Promise<ReadonlyMap<string, JobState>>
  /** Quiet if it has ended or does not exist. */
  stop(run_id: string, why: string): Promise<void>
  /** Does nothing if the deployment exists. Throws a `Refusal`. */
  deploy(made: {
    deployment_id: string
    project: string
    run_id: string
    deploy: Deploy
    caller: Submitter
  }): Promise<void>
}

/** By step. */
export type Curve = readonly { step: number; min: number; max: number }[]

/** The points of a metric of each of these runs; without those of runs that reported none. */
export type ReadCurves = (
  run_ids: readonly string[],
  key: string,
) => Promise<ReadonlyMap<string, Curve>>
