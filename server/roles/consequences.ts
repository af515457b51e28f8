import type { Consequences } from '../../command-api/reflows/port.ts'
import type { ReadTables } from '../../query-api/compose.ts'
import { walk } from '../../query-api/lineage/walk.ts'
import type { Reads } from '../../query-api/reading/reads.ts'
import type { LineageGraph } from '../../schemas/lineage.ts'

/** Follows versions of datasets to the runs and models that came of them, as the caller may read the lineage. */
export const consequencesOf =
  (reads: Reads<ReadTables>): Consequences =>
  async (caller, refs) => {
    const versions: string[] = []
    const model = new Set<string>()
    const run = new Set<string>()
    const found: Partial<Record<string, Set<string>>> = { model, run }
    for (const ref of refs) {
      const graph = await walk(reads.as(caller), caller, { type: 'dataset', ref })
      if (!graph) continue
      versions.push(ref)
      for (const { type, ref: name } of descendants(graph)) found[type]?.add(name ?? '')
    }
    return { versions, models: [...model].sort(), runs: [...run].sort() }
  }

/** Everything that came of the first thing, directly or not. */
function descendants({ id, nodes, edges }: LineageGraph): LineageGraph['nodes'] {
  const reached = new Set([id])
  for (let size = 0; size < reached.size; ) {
    size = reached.size
    for (const { from, to } of edges) if (reached.has(from)) reached.add(to)
  }
  reached.delete(id)
  return nodes.filter(node => reached.has(node.id))
}
