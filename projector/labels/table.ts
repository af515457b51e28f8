type Label = {
  run_id: string
  key: string
  value: string
  /** The value in the JobSpec, which counts again once MLflow's tag is deleted. */
  of_job: string | null
}

export type LabelTables = {
  run_labels: Label
  /** The same, limited to the runs that the session may read. */
  labels_of_runs: Label
}
