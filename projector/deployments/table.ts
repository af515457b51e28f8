import type { ColumnType, Generated } from 'kysely'
import type {
  Check,
  DeploymentState,
  RevisionState,
  Serving,
  Source,
} from '../../schemas/deployments/deployments.ts'

type Time = ColumnType<Date, string, string>
type MaybeTime = ColumnType<Date | null, string | null, string | null>
type Json<T> = ColumnType<T, string, string>

export type DeploymentTables = {
  deployments: {
    deployment_id: string
    name: string
    owner: string
    project: string
    team: string | null
    state: DeploymentState
    state_reason: string | null
    promoted_revision_id: string | null
    previous_revision_id: string | null
    min_replicas: number
    max_replicas: number
    max_body_bytes: number
    timeout_s: number
    max_concurrency: number
    target: Generated<number>
    up_window_s: Generated<number>
    down_window_s: Generated<number>
    idle_suspend_s: number | null
    allowed_origins: Generated<string[]>
    benchmark_gates: Generated<string[]>
    created_at: Time
    updated_at: Time
    suspended_at: MaybeTime
    suspended_by: string | null
  }
  deployment_revisions: {
    revision_id: string
    deployment_id: string
    number: number
    state: RevisionState
    state_reason: string | null
    source: Json<Source>
    serving: Json<Serving>
    checks: Json<Check[]>
    load_s: number | null
    ready_at: MaybeTime
    created_by: string
    created_at: Time
  }
  deployment_promotions: {
    deployment_id: string
    nth: number
    at: Time
    kind: 'promoted' | 'rolled_back'
    revision_id: string
    previous_revision_id: string | null
    actor: string
    reason: string
    overridden: Generated<string[]>
  }
  deployment_tokens: {
    token_id: string
    deployment_id: string
    name: string
    note: string
    captures: boolean
    created_by: string
    created_at: Time
    revoked_at: MaybeTime
  }
}
