import type { ColumnType } from 'kysely'

type Json<T> = ColumnType<T, string, string>

export type MlflowTables = {
  /** Data of a run that only MLflow's clients report. */
  mlflow_runs: {
    run_id: string
    tags: Json<Record<string, string>>
    status: string | null
    end_time_ms: number | null
  }
  /** Tags of projects. */
  mlflow_experiments: { project: string; tags: Json<Record<string, string>> }
  mlflow_inputs: {
    run_id: string
    name: string
    digest: string
    /** The order in which the run reported them. */
    version: number
    place: number
    input: Json<MlflowInput>
  }
}

export type MlflowInput = {
  name: string
  digest: string
  source_type: string
  source: string
  schema: string | null
  profile: string | null
  tags: Record<string, string>
}
