import path from 'node:path'
import { contentFile } from '../../platform/files/content.ts'
import type { CatalogueEntry } from '../../recipes/catalogue.ts'
import { engineProgram } from '../../recipes/templates.ts'
import type { Launch, Preparation } from '../port.ts'
import { pythonClient, recipeCommand } from './recipe-command.ts'

/** Where this host keeps what runs are prepared from; all paths are absolute. */
export type HostFiles = {
  /** The recipe with its files on this machine. */
  recipe: (name: string, version: string) => Promise<CatalogueEntry | null>
  environmentsDirectory: string
  /** Holds the datasets and models that runs read. */
  datasetsDirectory: string
  /** Holds the volumes of people. */
  volumesDirectory: string
  /** Holds the folders of runs. */
  runsDirectory: string
  /** Holds the packages of jobs. */
  uploadsDirectory: string
  packageLimitBytes: number
  /** Program name or path of the Python that creates environments. */
  python: string
}

/** The command that prepares a launch from files that this host and the nodes see under the same paths. */
export const preparationOnHost =
  (host: HostFiles) =>
  async (
    { run_id, attempt }: Pick<Launch, 'run_id' | 'attempt'>,
    { recipe: { name, version, digest }, package: archive, stored, volumes, ...data }: Preparation,
  ): Promise<string[]> => {
    const entry = await host.recipe(name, version)
    if (!entry) throw new Error(`recipe ${name} ${version} is not in the catalogue any more`)
    const { directory, recipe } = entry
    return recipeCommand({
      recipe_directory: directory,
      digest,
      runtime_id: recipe.framework.runtime_id,
      entrypoint: recipe.serving ? engineProgram : recipe.entrypoint,
      attempt,
      package: archive && {
        file: contentFile(host.uploadsDirectory, archive.sha256),
        sha256: archive.sha256,
        limit_bytes: host.packageLimitBytes,
      },
      starts:
        stored.length === 0
          ? null
          : { directory: path.join(host.runsDirectory, run_id, 'starts'), artifacts: stored },
      data: dataOf(data, host.datasetsDirectory),
      volumes: volumes.map(({ directory, ...volume }) => ({
        ...volume,
        path: path.join(host.volumesDirectory, directory),
      })),
      environments_directory: host.environmentsDirectory,
      client_directory: pythonClient,
      python: host.python,
    })
  }

function dataOf(
  {
    datasets,
    environments,
    model,
    adapter,
  }: Pick<Preparation, 'datasets' | 'environments' | 'model' | 'adapter'>,
  directory: string,
) {
  const isNothing =
    datasets.length === 0 && environments.length === 0 && model === null && adapter === null
  return isNothing ? null : { directory, datasets, environments, model, adapter }
}
