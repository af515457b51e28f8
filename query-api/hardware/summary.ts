import type { GpuSummary, HardwareAnswer, Straggler } from '../../schemas/hardware.ts'

/** A GPU with lower utilization counts as idle. */
export const idleBelowPct = 5

/**
 * The signs of a straggler, most significant first: a GPU with a lower clock does the same work more slowly; one with
 * lower utilization or power gets less work.
 */
const signs = [
  { key: 'sm_clock_mean_mhz', below: 0.9 },
  { key: 'util_mean_pct', below: 0.8 },
  { key: 'power_mean_w', below: 0.8 },
] as const
/** With only two GPUs, it is impossible to say which one is the outlier. */
const fewestGpus = 3

export function summarize(gpus: readonly GpuSummary[]): HardwareAnswer['summary'] {
  const measured = gpus.filter(gpu => gpu.idle_share !== null)
  const samples = sum(measured.map(gpu => gpu.samples))
  const idle = sum(measured.map(gpu => gpu.samples * (gpu.idle_share ?? 0)))
  return {
    idle_below_pct: idleBelowPct,
    idle_share: samples === 0 ? null : idle / samples,
    gpus: [...gpus],
    stragglers: stragglersOf(gpus),
  }
}

/** Each GPU once, by its most significant sign; furthest behind first. */
function stragglersOf(gpus: readonly GpuSummary[]): Straggler[] {
  const found = new Map<GpuSummary, Straggler>()
  for (const { key, below } of signs) {
    const known = gpus.filter(gpu => gpu[key] !== null)
    const median = medianOf(known.map(gpu => gpu[key] ?? 0))
    if (known.length < fewestGpus || median <= 0) continue
    for (const gpu of known) {
      const value = gpu[key] ?? 0
      const { node, rank, index } = gpu
      if (value < median * below && !found.has(gpu))
        found.set(gpu, { node, rank, index, key, value, median })
    }
  }
  return [...found.values()].sort((a, b) => a.value / a.median - b.value / b.median)
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2
}
