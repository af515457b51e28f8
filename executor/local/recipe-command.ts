import { fileURLToPath } from 'node:url'

/** What the launcher is told; part of argv, so nothing secret. Paths are absolute. */
export type RecipePlan = {
  recipe_directory: string
  /** As admitted: files that changed since then are not run. */
  digest: string
  runtime_id: string
  entrypoint: string
  attempt: number
  /** Where the Python environments of all runs are kept. */
  environments_directory: string
  /** Folder that makes `import forge` work. */
  client_directory: string
  /** Program name or path of the Python that environments are made with. */
  python: string
}

/** The reporting client that comes with Forge. */
export const pythonClient = fileURLToPath(new URL('../../clients/python/src', import.meta.url))

const launcher = fileURLToPath(new URL('launcher.ts', import.meta.url))

/**
 * The command of a run of a recipe: makes its Python environment where needed, then becomes the recipe's entrypoint.
 * The run's parameters go in its environment, as JSON in `FORGE_PARAMS`.
 */
export function recipeCommand(plan: RecipePlan): string[] {
  return [process.execPath, '--disable-warning=ExperimentalWarning', launcher, JSON.stringify(plan)]
}
