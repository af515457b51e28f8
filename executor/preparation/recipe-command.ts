import { fileURLToPath } from 'node:url'
import type { RecipePlan } from './recipe-plan.ts'

/** The bundled reporting client. */
export const pythonClient = fileURLToPath(new URL('../../clients/python/src', import.meta.url))

const launcher = fileURLToPath(new URL('launcher.ts', import.meta.url))

/**
 * The command of a recipe's run: builds its Python environment if necessary, then becomes the recipe's entrypoint.
 * It reads the parameters as JSON from standard input.
 */
export function recipeCommand(plan: RecipePlan): string[] {
  return [process.execPath, '--disable-warning=ExperimentalWarning', launcher, JSON.stringify(plan)]
}
