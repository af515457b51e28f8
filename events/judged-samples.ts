import type { ValidationSample } from '../schemas/validation.ts'

/** The first samples of a round, in the order in which they were sent. */
export type ReadRound = (asked: {
  run_id: string
  /** Null: the newest round. */
  step: number | null
  limit: number
}) => Promise<ValidationSample[]>
