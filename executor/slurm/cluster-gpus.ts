import type { SlurmNode } from './dialect.ts'
import type { SlurmExecutorOptions } from './options.ts'

/** The GPUs that jobs can have, of one type. */
export type ClusterGpus = {
  /** Slurm's name of the type; empty if it has none. */
  type: string
  /** On all nodes together that are usable now. */
  gpus: number
  /** On the largest node, usable now or not. */
  gpus_per_node: number
  /** How many nodes have that many. */
  nodes: number
}

/**
 * Counts the GPUs of a partition's nodes (of all nodes without one). Where a partition has several types, the
 * most frequent one counts: jobs must not get a mixture.
 */
export function countGpus(nodes: readonly SlurmNode[], partition: string | null): ClusterGpus {
  const ours = nodes.filter(node => partition === null || node.partitions.includes(partition))
  const type = mostFrequent(ours)
  const counted = ours.map(node => ({ usable: node.usable, count: node.gpus.get(type) ?? 0 }))
  const gpus_per_node = Math.max(0, ...counted.map(({ count }) => count))
  return {
    type,
    gpus: counted.reduce((sum, { usable, count }) => sum + (usable ? count : 0), 0),
    gpus_per_node,
    nodes: counted.filter(({ count }) => count === gpus_per_node).length,
  }
}

const cachedMs = 5000

/** Counts the GPUs at most once in five seconds. */
export function cachedGpus({
  client,
  partition,
}: Pick<SlurmExecutorOptions, 'client' | 'partition'>): () => Promise<ClusterGpus> {
  let counted: { atMs: number; gpus: ClusterGpus } | null = null
  return async () => {
    const nowMs = performance.now()
    if (counted && nowMs - counted.atMs < cachedMs) return counted.gpus
    const gpus = countGpus(await client.nodes(), partition)
    counted = { atMs: nowMs, gpus }
    return gpus
  }
}

function mostFrequent(nodes: readonly SlurmNode[]): string {
  const totals = new Map<string, number>()
  for (const { gpus } of nodes)
    for (const [type, count] of gpus) totals.set(type, (totals.get(type) ?? 0) + count)
  const [first] = [...totals].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  return first?.[0] ?? ''
}
