import type { ColumnType } from 'kysely'
import type { EnvironmentArgs } from '../../schemas/rl-environments/manifest.ts'
import type {
  RlEnvironmentState,
  RlEnvironmentVersion,
  SmokeRollout,
} from '../../schemas/rl-environments/rl-environments.ts'

type Time = ColumnType<Date, string, string>
type Json<T> = ColumnType<T, string, string>

export type RlEnvironmentTables = {
  rl_environments: {
    owner: string
    name: string
    visibility: 'private' | 'public'
    created_at: Time
    updated_at: Time
  }
  rl_environment_versions: {
    owner: string
    name: string
    version: string
    ref: string
    digest: string
    state: RlEnvironmentState
    manifest: Json<
      Pick<
        RlEnvironmentVersion,
        | 'title'
        | 'entry'
        | 'args_schema'
        | 'args_default'
        | 'tools'
        | 'secrets_required'
        | 'requirements'
      > & { reward: { min: number | null; max: number | null } }
    >
    archive_bytes: number
    deployment_id: string | null
    revision_id: string | null
    error: string | null
    rollouts: Json<SmokeRollout[]>
    log: string
    deprecated_reason: string | null
    created_by: string
    created_at: Time
    built_at: ColumnType<Date | null, string | null, string | null>
  }
  rl_environment_uses: {
    run_id: string
    ref: string
    digest: string
    weight: number
    args: Json<EnvironmentArgs>
  }
}
