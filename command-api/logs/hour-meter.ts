/** What a run may send within an hour (bytes); the projection keeps no more than this either. */
const hourLimitBytes = 100 * 1024 * 1024
const hourMs = 3_600_000
const maxRuns = 50_000

/**
 * Counts what each run sent within the hour, in this process, so that a run gone wild does not fill the log
 * with what would be cut off anyway. The record that crosses the limit still passes: it makes the
 * projection write its marker.
 */
export function createHourMeter() {
  const sent = new Map<string, { hour: number; bytes: number }>()
  return {
    /** Whether the run has already sent more than is kept in this hour; counts these bytes if not. */
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
