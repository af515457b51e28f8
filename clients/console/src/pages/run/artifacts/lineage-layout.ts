import type { Static } from 'typebox'
import type { lineage } from '../../../../../../schemas/runs/lineage.ts'

export type Lineage = Static<typeof lineage>
type Run = Lineage['runs'][number]

/** `hidden`: a run that the reader may not see. */
export type Node = { id: string; x: number; y: number } & (
  | { kind: 'run'; run: Run }
  | { kind: 'artifact'; artifactId: string; isDeleted: boolean }
  | { kind: 'hidden' }
)
export type Link = {
  kind: Lineage['edges'][number]['kind']
  from: string
  to: string
  path: string
}
export type Graph = { nodes: Node[]; links: Link[]; width: number; height: number }

export const nodeSize = { width: 168, height: 44 } as const
const gap = { x: 56, y: 14 } as const

type Arrow = Pick<Link, 'kind' | 'from' | 'to'>
type Unplaced = Node extends infer N ? (N extends Node ? Omit<N, 'x' | 'y'> : never) : never

/** Draws ancestors on the left. The artifact from which a run began is a node between the two runs. */
export function graphOf(lineage: Lineage): Graph {
  const { nodes, arrows } = partsOf(lineage)
  const columns = columnsOf(nodes, arrows)
  const rows = rowsOf(columns, arrows)
  const placed = nodes.map((node): Node => {
    const { column, row } = rows.get(node.id) ?? { column: 0, row: 0 }
    return {
      ...node,
      x: column * (nodeSize.width + gap.x),
      y: row * (nodeSize.height + gap.y),
    }
  })
  const at = new Map(placed.map(node => [node.id, node]))
  return {
    nodes: placed,
    links: arrows.map(arrow => ({ ...arrow, path: pathOf(at.get(arrow.from), at.get(arrow.to)) })),
    width: Math.max(0, ...placed.map(({ x }) => x + nodeSize.width)),
    height: Math.max(0, ...placed.map(({ y }) => y + nodeSize.height)),
  }
}

function partsOf({ runs, edges }: Lineage): { nodes: Unplaced[]; arrows: Arrow[] } {
  const nodes = new Map<string, Unplaced>()
  for (const run of runs) nodes.set(run.run_id, { kind: 'run', id: run.run_id, run })
  const arrows = new Map<string, Arrow>()
  for (const edge of edges) {
    if (!nodes.has(edge.to)) continue
    const way = wayOf(edge, nodes)
    for (const node of way) if (!nodes.has(node.id)) nodes.set(node.id, node)
    for (const [nth, { id: from }] of way.entries()) {
      const to = way[nth + 1]?.id ?? edge.to
      arrows.set(`${edge.kind} ${from} ${to}`, { kind: edge.kind, from, to })
    }
  }
  return { nodes: [...nodes.values()], arrows: [...arrows.values()] }
}

/** The ancestors of a run: the earlier run, and the artifact from which the later one began. */
function wayOf(
  { from, to, artifact_id, artifact_deleted }: Lineage['edges'][number],
  nodes: ReadonlyMap<string, Unplaced>,
): Unplaced[] {
  const source: Unplaced = (from !== null && nodes.get(from)) || {
    kind: 'hidden',
    id: `hidden ${artifact_id ?? to}`,
  }
  if (artifact_id === null) return [source]
  const isDeleted = artifact_deleted
  return [source, { kind: 'artifact', id: artifact_id, artifactId: artifact_id, isDeleted }]
}

/** The nodes by their greatest distance from the beginning. */
function columnsOf(nodes: readonly Unplaced[], arrows: readonly Arrow[]): string[][] {
  const steps = new Map(nodes.map(({ id }) => [id, 0]))
  // Each round places at least one node correctly, unless they form a cycle.
  let rounds = nodes.length
  while (rounds-- > 0 && pushRight(steps, arrows));
  const columns = [...Map.groupBy(nodes, ({ id }) => steps.get(id) ?? 0)]
  return columns.sort(([a], [b]) => a - b).map(([, of]) => of.map(({ id }) => id))
}

/** Puts descendants to the right of their ancestors; false if they are already there. */
function pushRight(steps: Map<string, number>, arrows: readonly Arrow[]): boolean {
  let hasMoved = false
  for (const { from, to } of arrows) {
    const least = Math.min((steps.get(from) ?? 0) + 1, steps.size - 1)
    if ((steps.get(to) ?? 0) >= least) continue
    steps.set(to, least)
    hasMoved = true
  }
  return hasMoved
}

type Place = { column: number; row: number }

/** Within a column, each node is placed as near as possible to its ancestors. */
function rowsOf(columns: readonly string[][], arrows: readonly Arrow[]): Map<string, Place> {
  const places = new Map<string, Place>()
  for (const [column, ids] of columns.entries()) {
    const wished = ids.map(id => ({ id, row: meanRow(id, arrows, places) }))
    wished.sort((a, b) => a.row - b.row)
    let free = 0
    for (const { id, row } of wished) {
      const taken = Math.max(free, Math.round(row))
      places.set(id, { column, row: taken })
      free = taken + 1
    }
  }
  return places
}

function meanRow(id: string, arrows: readonly Arrow[], places: ReadonlyMap<string, Place>): number {
  const rows = arrows.flatMap(({ from, to }) => (to === id ? (places.get(from)?.row ?? []) : []))
  return rows.length === 0 ? 0 : rows.reduce((sum, row) => sum + row, 0) / rows.length
}

function pathOf(from: Node | undefined, to: Node | undefined): string {
  if (!from || !to) return ''
  const [x1, y1] = [from.x + nodeSize.width, from.y + nodeSize.height / 2]
  const [x2, y2] = [to.x, to.y + nodeSize.height / 2]
  const middle = (x1 + x2) / 2
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`
}
