import type { QueueRow } from '../../../../../schemas/queue.ts'

/** A job that holds GPUs; `leftS` is null where it is unknown. */
export type Holder = {
  shortId: string
  owner: string
  gpus: number
  startedMs: number
  leftS: number | null
}

export type Block = {
  shortId: string
  kind: 'running' | 'waiting'
  gpus: number
  /** Seconds from now; the past is negative. */
  from: number
  to: number
  /** For a waiting job: the latest likely start. For a running one without a known end: null. */
  latest: number | null
}

/** How far back and ahead a timeline shows, in seconds. */
export const shownS = { back: 3_600, ahead: 4 * 3_600 }
/** A block that would be too small to see. */
const leastS = 120

/** The running and waiting jobs of one series of GPUs, on one time axis. */
export function blocksOf(
  holders: readonly Holder[],
  waiting: readonly QueueRow[],
  nowMs: number,
): Block[] {
  const running = holders.map(({ shortId, gpus, startedMs, leftS }): Block => {
    const from = Math.max(-shownS.back, (startedMs - nowMs) / 1000)
    const to = leftS === null ? shownS.ahead : Math.min(shownS.ahead, Math.max(leastS, leftS))
    return { shortId, kind: 'running', gpus, from, to, latest: leftS === null ? null : to }
  })
  const next = waiting.flatMap(({ short_id, gpus, eta_s }): Block[] => {
    if (eta_s === null || eta_s.p50 > shownS.ahead) return []
    const latest = Math.min(shownS.ahead, Math.max(eta_s.p90, eta_s.p50 + leastS))
    return [{ shortId: short_id, kind: 'waiting', gpus, from: eta_s.p50, to: latest, latest }]
  })
  return [...running, ...next]
}

/** The position of a moment on the axis, from 0 to 1. */
export const timelinePlaceOf = (seconds: number): number =>
  (seconds + shownS.back) / (shownS.back + shownS.ahead)
