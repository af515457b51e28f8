export type ValidationTables = {
  validation_runs: { run_id: string; samples: number; first_offset: number }
  /**
   * The newest report of each chunk; `rewards` counts the finite ones, which the sum and the extremes cover.
   */
  validation_chunks: {
    run_id: string
    step: number
    chunk_index: number
    total_chunks: number
    /** The offset of its record, to which its samples refer as well. */
    log_offset: number
    avg_reward: number | null
    accuracy: number | null
    samples: number
    rewards: number
    reward_sum: number
    reward_min: number | null
    reward_max: number | null
    received_at: Date
  }
  validation_samples: {
    run_id: string
    log_offset: number
    /** Within the chunk, from 0. */
    index: number
    step: number
    chunk_index: number
    sample_key: string | null
    reward: number | null
    /** Approximate length of the texts. */
    bytes: number
    user: string | null
    assistant: string | null
    env: unknown
    extra: Record<string, unknown> | null
  }
}
