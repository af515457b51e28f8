/** A device code as a poll finds it; times in epoch milliseconds. */
export type PolledCode = {
  state: 'pending' | 'approved' | 'denied' | 'consumed'
  expiresMs: number
  /** The last poll that kept the pace; null before the first. */
  polledMs: number | null
  intervalS: number
  /** The session that approved still holds, and so does its person. */
  approverHolds: boolean
}

/** RFC 8628, 3.5, by its own words; `approved` is the one that earns a token. */
export type PollAnswer =
  | { is: 'authorization_pending' | 'access_denied' | 'expired_token' | 'approved' }
  | { is: 'slow_down'; waitS: number }

/** Seconds between polls once one came too soon (RFC 8628, 3.5: five more than the first interval). */
export const slowIntervalS = 10

/**
 * What a poll is told at `nowMs`. Only a code that waits has a pace: whoever polls one that was decided is
 * told so at once.
 */
export function answerPoll(code: PolledCode | null, nowMs: number): PollAnswer {
  if (code === null || code.state === 'consumed' || code.expiresMs <= nowMs)
    return { is: 'expired_token' }
  if (code.state === 'denied' || (code.state === 'approved' && !code.approverHolds))
    return { is: 'access_denied' }
  if (code.state === 'approved') return { is: 'approved' }
  const earliestMs = code.polledMs === null ? nowMs : code.polledMs + code.intervalS * 1000
  if (nowMs >= earliestMs) return { is: 'authorization_pending' }
  const slowedMs = (code.polledMs ?? nowMs) + slowIntervalS * 1000 - nowMs
  return { is: 'slow_down', waitS: Math.ceil(slowedMs / 1000) }
}
