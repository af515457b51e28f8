import { readdir } from 'node:fs/promises'
import path from 'node:path'
import type { Fetched, PlacedEnvironment } from './fetch-starts.ts'
import {
  type EnvironmentWish,
  ensureEnvironment,
  type PythonEnvironment,
} from './python-environment.ts'

/** The packages of RL environments are installed apart from those of recipes. */
const runtimeId = 'rl_environment'

type Wish = Pick<EnvironmentWish, 'environmentsDirectory' | 'python' | 'say' | 'onBuild' | 'signal'>

/** The Python environment with the packages that an RL environment names. */
export const pythonOfEnvironment = (wish: Wish, directory: string): Promise<PythonEnvironment> =>
  ensureEnvironment({ ...wish, runtimeId, recipeDirectory: directory, isUntrusted: true })

/** Installs the packages of RL environments, and returns `FORGE_ENVIRONMENTS`, which describes each by its reference. */
export async function describeEnvironments(
  placed: readonly PlacedEnvironment[],
  wish: Wish,
): Promise<Pick<Fetched, 'variables' | 'paths'>> {
  if (placed.length === 0) return { variables: {}, paths: [] }
  const described: Record<string, object> = {}
  const paths: string[] = []
  for (const { environment, path: directory } of placed) {
    const { ref, digest, weight, args, entry, has_requirements } = environment
    const python = has_requirements ? await pythonOfEnvironment(wish, directory) : null
    const packages = python && (await packagesOf(python))
    described[ref] = { path: directory, digest, weight, args, entry, packages }
    paths.push(...(python?.files ?? []))
  }
  return { variables: { FORGE_ENVIRONMENTS: JSON.stringify(described) }, paths }
}

/** The folder that a Python of the same version can import the packages from. */
async function packagesOf({ variables }: PythonEnvironment): Promise<string | null> {
  const { PYTHONPATH, VIRTUAL_ENV } = variables
  if (PYTHONPATH !== undefined) return PYTHONPATH
  if (VIRTUAL_ENV === undefined) return null
  const libraries = path.join(VIRTUAL_ENV, 'lib')
  const version = (await readdir(libraries)).find(name => name.startsWith('python3'))
  return version === undefined ? null : path.join(libraries, version, 'site-packages')
}
