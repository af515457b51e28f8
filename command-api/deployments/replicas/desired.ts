/** The average number of requests under way around this moment. Times in milliseconds. */
export type Sample = { atMs: number; concurrency: number }

export type Scaling = {
  min: number
  max: number
  /** Concurrent requests per engine. */
  target: number
  up_window_s: number
  down_window_s: number
}

/**
 * The desired number of engines, given the previous one. It rises as soon as the average over the upper window
 * requires it; it falls only if the lower window has passed in full and required no more at any moment. Samples are
 * ordered by time.
 */
export function desiredReplicas(
  scaling: Scaling,
  current: number,
  samples: readonly Sample[],
  nowMs: number,
): number {
  const { target, up_window_s, down_window_s } = scaling
  const least = Math.max(1, scaling.min)
  const most = Math.max(least, scaling.max)
  const bounded = (count: number) => Math.min(most, Math.max(least, count))
  const needed = (concurrency: number) => bounded(Math.ceil(concurrency / target))
  const within = (window_s: number) => samples.filter(({ atMs }) => atMs > nowMs - window_s * 1000)
  const covers = (window_s: number) => (samples[0]?.atMs ?? nowMs) <= nowMs - window_s * 1000

  const latest = within(up_window_s)
  const up = covers(up_window_s) && latest.length > 0 ? needed(averageOf(latest)) : least
  if (up > current) return up
  if (!covers(down_window_s)) return bounded(current)
  const peak = Math.max(0, ...within(down_window_s).map(({ concurrency }) => concurrency))
  return Math.max(up, Math.min(bounded(current), needed(peak)))
}

const averageOf = (samples: readonly Sample[]): number =>
  samples.reduce((sum, { concurrency }) => sum + concurrency, 0) / samples.length

/** Keeps what windows still need: one sample before the beginning of the longest shows that it is covered. */
export function samplesFor(
  { up_window_s, down_window_s }: Scaling,
  samples: readonly Sample[],
  nowMs: number,
): Sample[] {
  const from = nowMs - Math.max(up_window_s, down_window_s) * 1000
  const first = samples.findLastIndex(({ atMs }) => atMs <= from)
  return samples.slice(Math.max(0, first))
}
