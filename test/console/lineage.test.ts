import test from 'ava'
import { drawingOf, nodeSize } from '../../clients/console/src/lineage/layout.ts'
import type { LineageEdge, LineageNode } from '../../schemas/lineage.ts'

const node = (id: string): LineageNode => ({
  ...{ id, type: 'run', ref: id, name: `demo-${id}`, owner: 'ada', state: 'succeeded' },
  ...{ created_at: '2026-11-20T12:00:00+00:00', traffic: null },
})
const edge = (kind: LineageEdge['kind'], from: string, to: string): LineageEdge => ({
  kind,
  from,
  to,
})
const drawn = (ids: readonly string[], edges: LineageEdge[]) =>
  drawingOf({ nodes: ids.map(node), edges })

const placesOf = (drawing: ReturnType<typeof drawingOf>) =>
  Object.fromEntries(drawing.nodes.map(({ id, x, y }) => [id, [x, y]]))

test('ancestors are on the left, with checkpoints between runs', t => {
  const drawing = drawn(
    ['a', 'art', 'b', 'c'],
    [
      edge('made', 'a', 'art'),
      edge('init_from', 'art', 'b'),
      edge('init_from', 'art', 'c'),
      edge('retry', 'b', 'c'),
    ],
  )
  const place = placesOf(drawing)
  const columns = ['a', 'art', 'b', 'c'].map(id => place[id]?.[0])
  t.deepEqual(
    columns,
    [...columns].sort((a, b) => Number(a) - Number(b)),
  )
  t.is(new Set(columns).size, 4)
  t.is(drawing.links.length, 4)
  t.true(drawing.links.every(({ path }) => /^M[\d. ]+C[\d. ]+$/.test(path)))
  t.is(drawing.width, Math.max(...drawing.nodes.map(({ x }) => x)) + nodeSize.width)
})

test('no two nodes have the same place', t => {
  const ids = Array.from({ length: 200 }, (_, n) => String(n))
  const edges = ids.slice(1).map((to, n) => edge('clone', String(Math.floor(n / 3)), to))
  const drawing = drawn(ids, edges)
  t.is(new Set(drawing.nodes.map(({ x, y }) => `${x} ${y}`)).size, 200)
})

test('a cycle, and an edge to a thing beyond the limit, are drawn without a hang or fault', t => {
  const drawing = drawn(
    ['a', 'b'],
    [edge('retry', 'a', 'b'), edge('clone', 'b', 'a'), edge('retry', 'a', 'x')],
  )
  t.is(drawing.nodes.length, 2)
  t.is(drawing.links.length, 2)
  t.deepEqual(placesOf(drawn(['a'], [])), { a: [0, 0] })
})
