import { fileURLToPath } from 'node:url'

/** Input of the launcher; passed in argv, so it holds no secret. Paths are absolute. */
export type RecipePlan = {
  recipe_directory: string
  /** As admitted; files that changed since then are not run. */
  digest: string
  runtime_id: string
  entrypoint: string
  attempt: number
  /** Holds the Python environments of all runs. */
  environments_directory: string
  /** Added to PYTHONPATH so that `import forge` works. */
  client_directory: string
  /** Program name or path of the Python that creates environments. */
  python: string
}

/** The bundled reporting client. */
export const pythonClient = fileURLToPath(new URL('../../clients/python/src', import.meta.url))

const launcher = fileURLToPath(new URL('launcher.ts', import.meta.url))

/**
 * The command of a recipe's run: builds its Python environment if necessary, then becomes the recipe's entrypoint.
 * The parameters are passed as JSON in the environment variable `FORGE_PARAMS`.
 */
export function recipeCommand(plan: RecipePlan): string[] {
  return [process.execPath, '--disable-warning=ExperimentalWarning', launcher, JSON.stringify(plan)]
}
