import { type Document, isMap, parseDocument, stringify } from 'yaml'
import type { Recipe } from '../../../../../schemas/recipes.ts'

/** A JobSpec before the server has seen it. */
export type Tree = { readonly [key: string]: unknown }

export const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export type Read = { tree: Tree; fault: null } | { tree: null; fault: string }

/** The parsed text, or where it is neither YAML nor JSON. */
export function readText(text: string): Read {
  const parsed = parseDocument(text)
  const [error] = parsed.errors
  if (error) return { tree: null, fault: error.message.split('\n')[0] ?? '' }
  const value = withAliases(parsed)
  if (value instanceof ReferenceError) return { tree: null, fault: value.message }
  return isTree(value) ? { tree: value, fault: null } : { tree: null, fault: '' }
}

/** Aliases are resolved only here: `*.py` is one that refers to nothing, and too many are refused. */
function withAliases(parsed: Document): unknown {
  try {
    return parsed.toJS({ maxAliasCount: 100 })
  } catch (error) {
    if (error instanceof ReferenceError) return error
    throw error
  }
}

/** The text with one value changed; comments and order stay. Undefined removes the value. The text must be valid. */
export function withValue(text: string, path: readonly string[], value: unknown): string {
  const parsed = parseDocument(text)
  if (value === undefined) parsed.deleteIn(path)
  else {
    makeRoom(parsed, path)
    parsed.setIn(path, value)
  }
  return String(parsed)
}

/** Creates a section that is missing, null or not a section. */
function makeRoom(parsed: Document, path: readonly string[]): void {
  const tree: unknown = parsed.toJS()
  for (let depth = 1; depth < path.length; depth++) {
    const above = path.slice(0, depth)
    if (!isTree(valueAt(tree, above))) parsed.setIn(above, parsed.createNode({}))
    const section = parsed.getIn(above, true)
    // `{}` is expanded into lines like the rest.
    if (isMap(section) && section.items.length === 0) section.flow = false
  }
}

export function valueAt(tree: unknown, path: readonly string[]): unknown {
  let value = tree
  for (const key of path)
    value = isTree(value) && Object.hasOwn(value, key) ? value[key] : undefined
  return value
}

/** The smallest JobSpec of a recipe. */
export function newText(recipe: Recipe, { project, name }: { project: string; name: string }) {
  const { min_gpus, min_nodes } = recipe.resources
  return stringify({
    api: 'forge/v2',
    metadata: { name, project },
    lock: lockOf(recipe),
    spec: {
      params: {},
      resources: {
        // `min_gpus` counts the GPUs of all nodes together.
        gpus_per_node: Math.ceil(min_gpus / min_nodes),
        ...(min_nodes > 1 && { nodes: min_nodes }),
      },
    },
  })
}

export const lockOf = ({ name, version, digest, framework }: Recipe) => ({
  name,
  version,
  digest,
  framework,
})

export const textOfSpec = (spec: Tree): string => stringify(said(spec))

/** A JobSpec without empty content: nulls, empty texts, lists and sections. Parameters stay unchanged. */
export function said(tree: Tree): Tree {
  return Object.fromEntries(
    Object.entries(tree).flatMap(([key, value]) => {
      const kept = isTree(value) && key !== 'params' ? said(value) : value
      return isNothing(kept) && key !== 'params' ? [] : [[key, kept]]
    }),
  )
}

const isNothing = (value: unknown): boolean =>
  value === null ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (isTree(value) && Object.keys(value).length === 0)
