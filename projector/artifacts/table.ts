import type { ColumnType } from 'kysely'

export type ArtifactTables = {
  artifacts: {
    artifact_id: string
    run_id: string
    kind: 'checkpoint' | 'hf_export' | 'eval_report' | 'merged_model'
    path: string
    format: string
    step: number | null
    size_bytes: number | null
    sha256: string | null
    metrics: ColumnType<Record<string, number>, string, string>
    attempt: number | null
    status: 'registered' | 'verified' | 'missing' | 'deleting' | 'deleted'
    created_at: ColumnType<Date, string, string>
    registered_by: string
    deleted_at: ColumnType<Date | null, string | null | undefined, string | null>
    /** A person, or `keep_rules`. */
    deleted_by: string | null
  }
}
