import { readFile } from 'node:fs/promises'
import { number, toTable } from '../rig/table.ts'

// `node bench/workspace/retained.ts BEFORE AFTER`: the kinds of objects of which the later heap snapshot has more.

type Snapshot = {
  snapshot: { meta: { node_fields: string[]; node_types: [string[]] } }
  nodes: number[]
  strings: string[]
}
type Sum = { count: number; bytes: number }

const shown = 25

async function sumsOf(path: string): Promise<Map<string, Sum>> {
  const { snapshot, nodes, strings } = JSON.parse(await readFile(path, 'utf8')) as Snapshot
  const { node_fields: fields, node_types: types } = snapshot.meta
  const [type, name, size] = ['type', 'name', 'self_size'].map(field => fields.indexOf(field))
  const sums = new Map<string, Sum>()
  for (let at = 0; at < nodes.length; at += fields.length) {
    const of = (field = 0) => nodes[at + field] ?? 0
    const kind = types[0][of(type)] ?? ''
    const named = kind === 'object' || kind === 'native' || kind === 'closure'
    const key = named ? `${kind} ${strings[of(name)]}` : kind
    const sum = sums.get(key) ?? { count: 0, bytes: 0 }
    sums.set(key, { count: sum.count + 1, bytes: sum.bytes + of(size) })
  }
  return sums
}

const [before, after] = await Promise.all(process.argv.slice(2, 4).map(sumsOf))
if (!before || !after) throw new Error('Name two snapshots')
const none = { count: 0, bytes: 0 }
const grown = [...after]
  .map(([kind, now]) => {
    const was = before.get(kind) ?? none
    return { kind, now: now.bytes, more: now.bytes - was.bytes, count: now.count - was.count }
  })
  .sort((a, b) => b.more - a.more)
  .slice(0, shown)
console.log(
  toTable(grown, [
    ['kind', row => row.kind.slice(0, 60)],
    ['kB', row => number(row.now / 1e3)],
    ['more kB', row => number(row.more / 1e3)],
    ['more objects', row => number(row.count)],
  ]),
)
