import path from 'node:path'
import { contentFile } from '../platform/files/content.ts'
import type { CatalogueEntry } from '../recipes/catalogue.ts'
import { engineProgram } from '../recipes/templates.ts'
import { jobVariables } from '../schemas/job-variables.ts'
import type { LaunchOrder } from './job-commands.ts'
import type { Launch } from './port.ts'
import { pythonClient, recipeCommand } from './preparation/recipe-command.ts'
import type { RecipePlan } from './preparation/recipe-plan.ts'

export type LaunchOptions = {
  /** The recipe with its files on this machine. */
  recipe: (name: string, version: string) => Promise<CatalogueEntry | null>
  environmentsDirectory: string
  /** Holds the folders of runs. */
  runsDirectory: string
  /** Holds the packages of jobs. */
  uploadsDirectory: string
  packageLimitBytes: number
  /** Program name or path of the Python that creates environments. */
  python: string
}

/** The local command for an order. A missing recipe becomes a failed launch, with a line in the run's log. */
export const toLocalLaunch =
  ({ recipe: provide, environmentsDirectory, runsDirectory, python, ...packages }: LaunchOptions) =>
  async (order: LaunchOrder): Promise<Launch> => {
    const { run_id, attempt, fencing_token, nodes, gpu_indexes, recipe } = order
    const { name, version, digest } = recipe
    const entry = await provide(name, version)
    if (!entry) throw new Error(`recipe ${name} ${version} is not in the catalogue any more`)
    const own = {
      ...order.reporting,
      FORGE_ATTEMPT: String(attempt),
      ...(order.init_from && {
        FORGE_INIT_FROM: order.init_from.path,
        FORGE_INIT_LOAD: order.init_from.load,
      }),
      ...(order.resume_from && { FORGE_RESUME_FROM: order.resume_from }),
      ...(order.checkpoint_every_steps && {
        FORGE_CHECKPOINT_EVERY: String(order.checkpoint_every_steps),
      }),
      ...servingVariables(entry, order),
    }
    return {
      run_id,
      attempt,
      fencing_token,
      nodes,
      gpu_indexes: [...gpu_indexes],
      command: [],
      preparation: {
        command: recipeCommand({
          recipe_directory: entry.directory,
          digest,
          runtime_id: entry.recipe.framework.runtime_id,
          entrypoint: entry.recipe.serving ? engineProgram : entry.recipe.entrypoint,
          attempt,
          package: packageOf(order, packages),
          starts: order.stored.length === 0 ? null : startsOf(order, runsDirectory),
          environments_directory: environmentsDirectory,
          client_directory: pythonClient,
          python,
        }),
        env: own,
        input: JSON.stringify(order.params),
      },
      // Jobs that were admitted before the other names were refused lose them here.
      env: { ...jobVariables(order.env), ...own },
      reads: order.init_from ? [order.init_from] : [],
    }
  }

/** What `serving/serve_engine.py` reads. */
function servingVariables(
  { recipe: { name, serving: template }, directory }: CatalogueEntry,
  { serving }: LaunchOrder,
): Record<string, string> {
  if (!template) return {}
  if (!serving) throw new Error(`${name} is a serving template, and the job is no replica`)
  const { command, options, readiness } = template
  const { served_names, args, tensor_parallel, host, port } = serving
  const told = { command, options, readiness, served_names, args, tensor_parallel }
  return {
    FORGE_SERVING: JSON.stringify({ template: directory, ...told }),
    FORGE_SERVING_HOST: host,
    FORGE_SERVING_PORT: String(port),
  }
}

const startsOf = (
  { run_id, stored }: LaunchOrder,
  runsDirectory: string,
): RecipePlan['starts'] => ({
  directory: path.join(runsDirectory, run_id, 'starts'),
  artifacts: stored,
})

const packageOf = (
  { package: named }: LaunchOrder,
  {
    uploadsDirectory,
    packageLimitBytes,
  }: Pick<LaunchOptions, 'uploadsDirectory' | 'packageLimitBytes'>,
): RecipePlan['package'] =>
  named && {
    file: contentFile(uploadsDirectory, named.sha256),
    sha256: named.sha256,
    limit_bytes: packageLimitBytes,
  }
