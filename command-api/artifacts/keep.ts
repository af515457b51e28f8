/** Which checkpoints a run keeps: a number of the best, a number of the newest, and those at every nth step. */
export type KeepRules = { best: number; latest: number; every_nth: number }
export type BestBy = { key: string; goal: 'max' | 'min' }

export type KnownCheckpoint = {
  artifact_id: string
  step: number | null
  metrics: Readonly<Record<string, number>>
  registered_at: Date
  /** Whether a run could start from it: verified in the store, or reported to be stored elsewhere. */
  isUsable: boolean
}

/**
 * The checkpoints that may be deleted, oldest first. Several files of one step are one checkpoint. An unverified one
 * is kept and not counted, so that no checkpoint is deleted in favour of one that may be lost. The newest is always
 * kept: a run would start from it. Without a metric, none is best.
 */
export function expiredBy(
  checkpoints: readonly KnownCheckpoint[],
  keep: KeepRules,
  metric: BestBy | null,
): KnownCheckpoint[] {
  const usable = checkpoints.filter(one => one.isUsable).sort(newestFirst)
  const steps = [...Map.groupBy(usable, one => one.step ?? one.artifact_id)]
  const latest = steps.slice(0, Math.max(1, keep.latest))
  const kept = new Set([...latest, ...best(steps, keep.best, metric)].map(([key]) => key))
  const isNth = (key: Key) =>
    keep.every_nth > 0 && typeof key === 'number' && key % keep.every_nth === 0
  return steps.flatMap(([key, files]) => (kept.has(key) || isNth(key) ? [] : files)).reverse()
}

type Key = number | string
type Step = [Key, KnownCheckpoint[]]

/** The newer one if both are equally good. */
function best(steps: readonly Step[], count: number, metric: BestBy | null): Step[] {
  if (metric === null) return []
  const sign = metric.goal === 'max' ? -1 : 1
  const rankOf = ([, files]: Step) =>
    Math.min(
      ...files.flatMap(({ metrics }) => {
        const value = metrics[metric.key]
        return value === undefined ? [] : sign * value
      }),
    )
  return steps
    .map(step => ({ step, rank: rankOf(step) }))
    .filter(({ rank }) => rank !== Number.POSITIVE_INFINITY)
    .sort((a, b) => a.rank - b.rank)
    .slice(0, count)
    .map(({ step }) => step)
}

/** In the order that lists use. */
const newestFirst = (a: KnownCheckpoint, b: KnownCheckpoint) =>
  (b.step ?? -1) - (a.step ?? -1) ||
  b.registered_at.getTime() - a.registered_at.getTime() ||
  (a.artifact_id < b.artifact_id ? 1 : -1)
