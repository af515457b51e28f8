import type { Recipe } from '../../../../../schemas/recipes.ts'

/** A JobSpec before the server has seen it. */
export type Tree = { readonly [key: string]: unknown }

export const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function valueAt(tree: unknown, path: readonly string[]): unknown {
  let value = tree
  for (const key of path)
    value = isTree(value) && Object.hasOwn(value, key) ? value[key] : undefined
  return value
}

/** The smallest JobSpec of a recipe. */
export function newSpec(
  recipe: Recipe,
  { project, name }: { project: string; name: string },
): Tree {
  const { min_gpus, min_nodes } = recipe.resources
  return {
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
  }
}

export const lockOf = ({ name, version, digest, framework }: Recipe) => ({
  name,
  version,
  digest,
  framework,
})

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
