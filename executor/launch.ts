import type { CatalogueEntry } from '../recipes/catalogue.ts'
import { jobVariables } from '../schemas/jobs/variables.ts'
import type { LaunchOrder } from './job-commands.ts'
import type { Launch } from './port.ts'

export type ProvideRecipe = (name: string, version: string) => Promise<CatalogueEntry | null>

/** The launch for an order. A missing recipe becomes a failed launch, with a line in the run's log. */
export const toLaunch =
  (provide: ProvideRecipe) =>
  async (order: LaunchOrder): Promise<Launch> => {
    const { run_id, attempt, fencing_token, nodes, gpu_indexes, recipe } = order
    const { name, version } = recipe
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
      ...(order.benchmarks.length > 0 && { FORGE_BENCHMARKS: JSON.stringify(order.benchmarks) }),
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
        recipe,
        package: order.package,
        stored: order.stored,
        datasets: order.datasets,
        environments: order.environments,
        ...{ model: order.model, adapter: order.adapter },
        volumes: order.volumes,
        env: own,
        input: JSON.stringify(order.params),
      },
      // Jobs that were admitted before the other names were refused lose them here.
      env: { ...jobVariables(order.env), ...own },
      disk_bytes: order.disk_bytes ?? null,
      serves: entry.recipe.serving !== undefined,
      reads: order.init_from ? [order.init_from] : [],
    }
  }

/** The input of `serving/serve_engine.py`, without the folder of the template, which the preparation adds. */
function servingVariables(
  { recipe: { name, serving: template } }: CatalogueEntry,
  { serving }: LaunchOrder,
): Record<string, string> {
  if (!template) return {}
  if (!serving) throw new Error(`${name} is a serving template, and the job is not a replica`)
  const { command, options, readiness } = template
  const { served_names, args, tensor_parallel, host, port } = serving
  const described = { command, options, readiness, served_names, args, tensor_parallel }
  return {
    FORGE_SERVING: JSON.stringify(described),
    FORGE_SERVING_HOST: host,
    FORGE_SERVING_PORT: String(port),
  }
}
