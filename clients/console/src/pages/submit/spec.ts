import type { Recipe } from '../../../../../schemas/recipes.ts'
import { isTree, type Tree } from '../../job-specs/tree.ts'

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
