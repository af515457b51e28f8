import test from 'ava'
import {
  graphOf,
  type Lineage,
  nodeSize,
} from '../../clients/console/src/pages/run/artifacts/lineage-layout.ts'

const run = (run_id: string): Lineage['runs'][number] => ({
  ...{ run_id, short_id: `demo-${run_id}`, name: null, project: 'demo', owner: 'ada' },
  ...{ state: 'succeeded', created_at: '2026-11-20T12:00:00+00:00', datasets: [] },
})
type Edge = Lineage['edges'][number]
const edge = (kind: Edge['kind'], from: string | null, to: string, artifact?: string): Edge => ({
  ...{ kind, from, to, artifact_id: artifact ?? null, artifact_deleted: false },
})
const lineage = (runs: string[], edges: Edge[]): Lineage => ({
  ...{ run_id: runs[0] ?? '', runs: runs.map(run), edges, resumed: [], truncated: false },
})

const runPlacesOf = (graph: ReturnType<typeof graphOf>) =>
  Object.fromEntries(graph.nodes.map(({ id, x, y }) => [id, [x, y]]))

test('ancestors are on the left, with checkpoints between runs', t => {
  const graph = graphOf(
    lineage(
      ['a', 'b', 'c'],
      [
        edge('init_from', 'a', 'b', 'art'),
        edge('init_from', 'a', 'c', 'art'),
        edge('retry', 'b', 'c'),
      ],
    ),
  )
  const place = runPlacesOf(graph)
  const columns = ['a', 'art', 'b', 'c'].map(id => place[id]?.[0])
  t.deepEqual(
    columns,
    [...columns].sort((a, b) => Number(a) - Number(b)),
  )
  t.is(new Set(columns).size, 4)
  // The artifact is drawn once, and the arrow into it once.
  t.deepEqual(graph.links.map(({ kind, from, to }) => `${kind} ${from} ${to}`).sort(), [
    'init_from a art',
    'init_from art b',
    'init_from art c',
    'retry b c',
  ])
  t.true(graph.links.every(({ path }) => /^M[\d. ]+C[\d. ]+$/.test(path)))
  t.is(graph.width, Math.max(...graph.nodes.map(({ x }) => x)) + nodeSize.width)
})

test('no two nodes have the same place', t => {
  const runs = Array.from({ length: 200 }, (_, n) => String(n))
  const edges = runs.slice(1).map((to, n) => edge('clone', String(Math.floor(n / 3)), to))
  const graph = graphOf(lineage(runs, edges))
  t.is(new Set(graph.nodes.map(({ x, y }) => `${x} ${y}`)).size, 200)
})

test('a run that the reader may not see has a place, but no name', t => {
  const graph = graphOf(
    lineage(['b', 'c'], [edge('retry', null, 'b'), edge('init_from', null, 'c', 'art')]),
  )
  t.deepEqual(graph.nodes.map(({ kind }) => kind).sort(), [
    ...['artifact', 'hidden', 'hidden', 'run', 'run'],
  ])
})

test('a cycle, and an edge to a run beyond the limit, are drawn without a hang or fault', t => {
  const graph = graphOf(
    lineage(
      ['a', 'b'],
      [edge('retry', 'a', 'b'), edge('clone', 'b', 'a'), edge('retry', 'a', 'x')],
    ),
  )
  t.is(graph.nodes.length, 2)
  t.is(graph.links.length, 2)
  t.deepEqual(runPlacesOf(graphOf(lineage(['a'], []))), { a: [0, 0] })
})
