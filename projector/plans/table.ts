import type { ColumnType } from 'kysely'
import type {
  LookedStage,
  MovedFact,
  PlannedStage,
  PlanState,
  StageState,
} from '../../schemas/plans.ts'

type Time = ColumnType<Date, string, string>
type MaybeTime = ColumnType<Date | null, string | null, string | null>
type Json<T> = ColumnType<T, string, string>

export type PlanTables = {
  plans: {
    plan_id: string
    name: string
    owner: string
    project: string
    digest: string
    state: PlanState
    reason: string | null
    moved: Json<MovedFact[]>
    created_at: Time
    expires_at: Time
    submitted_by: string | null
    submitted_at: MaybeTime
    updated_at: Time
  }
  plan_stages: {
    plan_id: string
    nth: number
    name: string
    kind: PlannedStage['kind']
    planned: Json<PlannedStage>
    looked: Json<LookedStage>
    state: StageState
    reason: string | null
    deployment_id: string | null
    best_run_id: string | null
  }
  plan_runs: {
    plan_id: string
    stage: string
    n: number
    run_id: string
    params: Json<Record<string, unknown>>
    state: 'succeeded' | 'failed' | 'stopped' | null
    reason: string | null
    ended_at: MaybeTime
  }
}
