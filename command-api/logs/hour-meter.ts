/** Maximum bytes per run and hour; same limit as in the projection. */
const hourLimitBytes = 100 * 1024 * 1024
const hourMs = 3_600_000
const maxRuns = 50_000

/**
 * Counts the bytes of each run within the hour, per process, so that a runaway run does not fill the log with lines
 * that the projection would drop. The record that crosses the limit still passes, so that the projection writes
 * its marker.
 */
export function createHourMeter() {
  const sent = new Map<string, { hour: number; bytes: number }>()
  return {
    /** Whether the run is over its limit for this hour; counts these bytes if not. */
    isOver(runId: string, bytes: number, now: Date): boolean {
      const hour = Math.floor(now.getTime() / hourMs)
      const known = sent.get(runId)
      const before = known?.hour === hour ? known.bytes : 0
      if (before > hourLimitBytes) return true
      if (sent.size >= maxRuns) sent.clear()
      sent.set(runId, { hour, bytes: before + bytes })
      return false
    },
  }
}
