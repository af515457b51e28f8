/** The state of a device code at a poll; times in epoch milliseconds. */
export type PolledCode = {
  state: 'pending' | 'approved' | 'denied' | 'consumed'
  expiresMs: number
  /** The last poll that respected the interval; null before the first. */
  polledMs: number | null
  intervalS: number
  /** Whether the approving session is live and its person enabled. */
  approverHolds: boolean
}

/** Terms of RFC 8628, 3.5; only `approved` earns a token. */
export type PollAnswer =
  | { is: 'authorization_pending' | 'access_denied' | 'expired_token' | 'approved' }
  | { is: 'slow_down'; waitS: number }

/** Poll interval after a poll came too soon (RFC 8628, 3.5: five seconds more than the first). */
export const slowIntervalS = 10

/**
 * The outcome of a poll at `nowMs`. The interval applies only to undecided codes: a decision is reported at once.
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
