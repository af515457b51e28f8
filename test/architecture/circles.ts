/** For each node, the nodes that it imports. */
export type Graph = ReadonlyMap<string, ReadonlySet<string>>

export function graphOf(pairs: Iterable<readonly [from: string, to: string]>): Graph {
  const graph = new Map<string, Set<string>>()
  for (const [from, to] of pairs) graph.set(from, (graph.get(from) ?? new Set()).add(to))
  return graph
}

/** When a walk met a node, and the oldest open node that it leads back to. */
type Mark = { index: number; low: number; isOpen: boolean }

/** The maximal sets of two or more nodes that all import each other (Tarjan's algorithm), sorted. */
export function circlesIn(graph: Graph): string[][] {
  const marks = new Map<string, Mark>()
  const open: string[] = []
  const circles: string[][] = []

  const lowOf = (next: string): number => {
    const known = marks.get(next)
    if (!known) return visit(next).low
    return known.isOpen ? known.index : Number.POSITIVE_INFINITY
  }
  const close = (node: string) => {
    const circle = open.splice(open.indexOf(node))
    for (const member of circle) Object.assign(marks.get(member) ?? {}, { isOpen: false })
    if (circle.length > 1) circles.push(circle.sort())
  }
  const visit = (node: string): Mark => {
    const mark: Mark = { index: marks.size, low: marks.size, isOpen: true }
    marks.set(node, mark)
    open.push(node)
    for (const next of graph.get(node) ?? []) mark.low = Math.min(mark.low, lowOf(next))
    if (mark.low === mark.index) close(node)
    return mark
  }
  for (const node of graph.keys()) if (!marks.has(node)) visit(node)
  return circles.sort()
}
