import type { Observed } from './rows.ts'

/** How often observations are stored, in milliseconds by the time of receipt of the reports. */
const everyMs = 30_000

type Of = { rule: string; for_s: number; attempt: number }

/** Observations of runs waiting to be stored with the next due report. */
export function observations() {
  const waiting = new Map<string, Observed>()
  let storedAt = Number.NEGATIVE_INFINITY
  return {
    clear() {
      waiting.clear()
      storedAt = Number.NEGATIVE_INFINITY
    },
    /** At `ms` the condition of the rule was not met (`isFine`), or it was. */
    note(run_id: string, { rule, for_s, attempt }: Of, ms: number, isFine: boolean): void {
      const name = `${run_id} ${rule}`
      const before = waiting.get(name)
      if (before !== undefined && before.attempt > attempt) return
      const known = before?.attempt === attempt ? before : undefined
      waiting.set(name, {
        ...{ run_id, rule, for_s, attempt },
        since: Math.min(known?.since ?? ms, ms),
        seen_at: Math.max(known?.seen_at ?? ms, ms),
        fine_at: isFine ? Math.max(known?.fine_at ?? ms, ms) : (known?.fine_at ?? null),
      })
    },
    /** All waiting observations, if it is time. */
    due(ms: number): Observed[] {
      if (waiting.size === 0 || ms - storedAt < everyMs) return []
      storedAt = ms
      const all = [...waiting.values()]
      waiting.clear()
      return all
    },
  }
}
