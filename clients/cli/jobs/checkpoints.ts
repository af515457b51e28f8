/** The checkpoint from which the next attempt of a job continues. */
export type Checkpoint = { artifact_id: string; path: string; step: number | null }

export const checkpointText = ({ artifact_id, step }: Checkpoint): string =>
  step === null ? artifact_id : `step ${step} (${artifact_id})`

/** `it continues from step 400 (art_…)` */
export const continuesText = (checkpoint: Checkpoint | null): string =>
  checkpoint === null
    ? 'it starts from the beginning'
    : `it continues from ${checkpointText(checkpoint)}`
