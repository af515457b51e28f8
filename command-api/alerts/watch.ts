/** The state of a rule about a lasting condition, for an active run. */
export type Watch = {
  /** `samples`: the condition is known until the newest sample; `silence`: it continues until the next report. */
  of: 'samples' | 'silence'
  for_s: number
  since: Date
  seen_at: Date
  /** When the condition was last not met; null if it always was. */
  fine_at: Date | null
  is_running: boolean
  /** The start of the newest attempt; null for runs without a job. */
  running_since: Date | null
  is_open: boolean
}

export type Due = 'fire' | 'recovered' | 'not_running' | null

/**
 * After an outage, a server first receives the reports that waited for it: silence means nothing for this long, in
 * milliseconds.
 */
export const hearingMs = 10 * 60_000

/** `heardSince`: since when this process, or another, has accepted reports without interruption, as far as it knows. */
export function dueOf(watch: Watch, now: Date, heardSince: Date): Due {
  const { of, for_s, since, seen_at, fine_at, is_running, running_since, is_open } = watch
  if (!is_running) return is_open ? 'not_running' : null
  const from = Math.max(+(fine_at ?? since), +(running_since ?? since))
  const until = of === 'samples' ? +seen_at : +now
  const isMet = until - from >= for_s * 1000
  if (is_open) return isMet ? null : 'recovered'
  const isNews = of === 'samples' || +now - +heardSince >= hearingMs
  return isMet && isNews ? 'fire' : null
}
