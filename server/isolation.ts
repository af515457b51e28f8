import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chooseIsolation } from '../executor/local/choose-isolation.ts'
import { describeIsolation, type Isolation } from '../executor/local/isolation.ts'
import { filesOf, probePython } from '../executor/local/python-probe.ts'
import { pythonClient } from '../executor/local/recipe-command.ts'
import { builtInRecipes } from '../recipes/catalogue.ts'
import type { Config } from './config.ts'
import type { Core } from './core.ts'

/** The Python that builds environments and confines runs. */
export const python = 'python3'

export const environmentsIn = ({ dataDir }: Config): string => join(dataDir, 'environments')

/** Forge's own folder: settings may lie in it, so runs see only the recipes and the client in there. */
const ownFolder = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')

/** Chooses how runs are kept apart, and says it in the log. */
export async function openIsolation(
  { config, logger }: Core,
  runsDirectory: string,
): Promise<Isolation> {
  const environments = environmentsIn(config)
  await mkdir(runsDirectory, { recursive: true, mode: 0o700 })
  await mkdir(environments, { recursive: true, mode: 0o755 })
  const isolation = await chooseIsolation(config.localIsolation, {
    runsDirectory,
    python: await findPython(),
    passed: [config.dataDir],
    needed: [environments, pythonClient, builtInRecipes],
    hidden: [config.dataDir, ownFolder],
    readable: config.localReadable,
    writable: config.localWritable,
    ids: config.localIds,
  })
  const { notice, ...chosen } = describeIsolation(isolation)
  if (notice !== undefined) logger.warn(chosen, notice)
  else logger.info({ ...chosen, not: isolation.not }, 'runs are isolated')
  return isolation
}

/** Null where there is none: then no recipe can run either, and each run says so. */
async function findPython() {
  try {
    const probe = await probePython(python)
    return { executable: probe.executable, files: filesOf(probe) }
  } catch {
    return null
  }
}
