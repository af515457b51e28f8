import type { LineageEdge, LineageGraph, LineageNode } from '../../../../schemas/lineage.ts'

export type Placed = LineageNode & { x: number; y: number }
export type Link = LineageEdge & { path: string }
export type Drawing = { nodes: Placed[]; links: Link[]; width: number; height: number }

export const nodeSize = { width: 176, height: 44 } as const
const gap = { x: 56, y: 14 } as const

type Arrow = Pick<LineageEdge, 'from' | 'to'>
type Unplaced = Pick<LineageNode, 'id'>

/** Draws ancestors on the left. Edges to things beyond the limit of the lineage are left out. */
export function drawingOf({ nodes, edges }: Pick<LineageGraph, 'nodes' | 'edges'>): Drawing {
  const known = new Set(nodes.map(({ id }) => id))
  const arrows = edges.filter(({ from, to }) => known.has(from) && known.has(to))
  const rows = rowsOf(columnsOf(nodes, arrows), arrows)
  const placed = nodes.map((node): Placed => {
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
    links: arrows.map(arrow => ({
      ...arrow,
      path: pathBetween(at.get(arrow.from), at.get(arrow.to)),
    })),
    width: Math.max(0, ...placed.map(({ x }) => x + nodeSize.width)),
    height: Math.max(0, ...placed.map(({ y }) => y + nodeSize.height)),
  }
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

function pathBetween(from: Placed | undefined, to: Placed | undefined): string {
  if (!from || !to) return ''
  const [x1, y1] = [from.x + nodeSize.width, from.y + nodeSize.height / 2]
  const [x2, y2] = [to.x, to.y + nodeSize.height / 2]
  const middle = (x1 + x2) / 2
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`
}
