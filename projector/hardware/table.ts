export type HardwareTables = {
  hardware_runs: {
    run_id: string
    /** Number of points that were dropped. */
    dropped: number
  }
  hardware_sources: {
    run_id: string
    source: number
    node: string | null
    rank: number | null
    scope: 'gpu' | 'host'
    index: number | null
    uuid: string | null
    keys: string[]
  }
  hardware_points: {
    run_id: string
    source: number
    ts: number
    /** In the order of the source's `keys`; trailing ones may be missing. */
    readings: (number | null)[]
    throttle: string[] | null
    xid: number | null
  }
  hardware_means: HardwareTables['hardware_points'] & { counts: number[] }
  /** Samples, and means of older samples. */
  hardware_readings: HardwareTables['hardware_points']
}
