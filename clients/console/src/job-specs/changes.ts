import { isTree, said, type Tree } from './tree.ts'

export type Change = { path: string; from: string | null; to: string | null }

/** The differences between two JobSpecs, by dotted paths; a list is one value. Null: absent on that side. */
export function changesBetween(from: Tree, to: Tree): Change[] {
  const [before, after] = [leaves(said(from)), leaves(said(to))]
  return [...new Set([...before.keys(), ...after.keys()])]
    .map(path => ({ path, from: before.get(path) ?? null, to: after.get(path) ?? null }))
    .filter(change => change.from !== change.to)
    .sort((one, other) => (one.path < other.path ? -1 : 1))
}

function leaves(tree: Tree, above = ''): Map<string, string> {
  return new Map(
    Object.entries(tree).flatMap(([key, value]): [string, string][] =>
      isTree(value)
        ? [...leaves(value, `${above}${key}.`)]
        : [[above + key, JSON.stringify(value)]],
    ),
  )
}
