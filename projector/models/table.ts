import type { ColumnType, Generated } from 'kysely'

type Time = ColumnType<Date, string, string>

export type ModelTables = {
  models: {
    model: string
    project: string
    owner: string
    description: string
    protected_aliases: string[]
    created_at: Time
    updated_at: Time
    deleted_at: ColumnType<Date | null, string | null, string | null>
  }
  model_versions: {
    model: string
    version: number
    artifact_id: string
    run_id: string
    archived: boolean
    stage_notes: string
    license: string | null
    created_by: string
    created_at: Time
  }
  model_aliases: {
    model: string
    alias: string
    version: number
    moved_at: Time
    moved_by: string
  }
  model_alias_moves: {
    model: string
    alias: string
    nth: number
    at: Time
    actor: string
    from_version: number | null
    to_version: number | null
    reason: string
    overridden: Generated<string[]>
  }
}
