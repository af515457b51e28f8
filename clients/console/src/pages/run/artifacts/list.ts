import type { Artifact } from '../../../../../../schemas/artifacts/artifacts.ts'

const sortKeys = ['path', 'kind', 'step', 'metric', 'size', 'created'] as const
export type SortKey = (typeof sortKeys)[number]
type Sorting = { key: SortKey; isDown: boolean }

/** The newest step first, as the server lists them. */
const usual: Sorting = { key: 'step', isDown: true }

/** The sorting that an address names: `size`, or `-size` for descending. */
export function sortingOf(text: string | undefined): Sorting {
  const name = text?.replace(/^-/, '')
  const key = sortKeys.find(one => one === name)
  return key === undefined ? usual : { key, isDown: text?.startsWith('-') === true }
}

export const nameOfSorting = ({ key, isDown }: Sorting): string => `${isDown ? '-' : ''}${key}`

/** Artifacts in the order of a column, those without a value last; equal ones keep their order. */
export function sorted(
  artifacts: readonly Artifact[],
  { key, isDown }: Sorting,
  metric: string | null,
): Artifact[] {
  const sortedBy = (one: Artifact) => fieldOf(one, key, metric)
  const sign = isDown ? -1 : 1
  return artifacts.toSorted((one, other) => {
    const [a, b] = [sortedBy(one), sortedBy(other)]
    if (a === null || b === null) return Number(a === null) - Number(b === null)
    return a === b ? 0 : sign * (a < b ? -1 : 1)
  })
}

function fieldOf(one: Artifact, key: SortKey, metric: string | null): number | string | null {
  switch (key) {
    case 'metric':
      return metric === null ? null : (one.metrics[metric] ?? null)
    case 'size':
      return one.size_bytes
    case 'created':
      return one.created_at
    default:
      return one[key]
  }
}

/** Names of scores that artifacts have, those of most artifacts first. */
export function metricsOf(artifacts: readonly Artifact[]): string[] {
  const counts = new Map<string, number>()
  for (const { metrics } of artifacts)
    for (const key of Object.keys(metrics)) counts.set(key, (counts.get(key) ?? 0) + 1)
  return [...counts.keys()].sort(
    (a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0) || (a < b ? -1 : 1),
  )
}

/** Whether it is still there, as far as Forge knows. */
export const isGoing = ({ status }: Pick<Artifact, 'status'>): boolean =>
  status === 'deleting' || status === 'deleted'

/** Whether it can be served, or be a version of a model. */
export const isModel = (one: Pick<Artifact, 'status' | 'kind'>): boolean =>
  one.kind !== 'eval_report' && one.status !== 'missing' && !isGoing(one)

/** Does the work for each, a few at a time; results are in the order of the items. */
export async function forEach<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
  atOnce = 4,
): Promise<PromiseSettledResult<Result>[]> {
  const results: PromiseSettledResult<Result>[] = []
  for (let from = 0; from < items.length; from += atOnce)
    results.push(...(await Promise.allSettled(items.slice(from, from + atOnce).map(work))))
  return results
}
