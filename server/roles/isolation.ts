import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chooseIsolation } from '../../executor/node/choose-isolation.ts'
import { controlSockets } from '../../executor/node/control-sockets.ts'
import { isIn, realOf } from '../../executor/node/hidden-paths.ts'
import { closedFolders, describeIsolation, type Isolation } from '../../executor/node/isolation.ts'
import { defaultMemory } from '../../executor/node/run-limits.ts'
import { filesOf, probePython } from '../../executor/preparation/python-probe.ts'
import { pythonClient } from '../../executor/preparation/recipe-command.ts'
import { CannotStart } from '../../platform/cannot-start.ts'
import { builtInRecipes } from '../../recipes/catalogue.ts'
import { builtInTemplates } from '../../recipes/templates.ts'
import type { Core } from '../core.ts'
import { recipesIn } from '../data-directory.ts'
import type { Config } from '../settings/config.ts'

/** The Python that builds environments and confines runs. */
export const python = 'python3'

export const environmentsIn = ({ dataDir, localEnvironments }: Config): string =>
  localEnvironments ?? join(dataDir, 'environments')

/** Forge's own folder: settings may lie in it, so runs see only the recipes and the client in there. */
const ownFolder = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

/** Files from which this server reads secrets. */
const secretFilesOf = (config: Config): string[] =>
  [
    config.keysSecretFile,
    config.kafkaTlsKeyFile,
    config.kafkaSaslPasswordFile,
    config.s3SecretFile,
    config.slurmJwtKeyFile,
    config.slurmTokenFile,
    // The files of runs on Slurm, with their tokens.
    config.slurmDir,
    // Everything, with the signing keys.
    config.backupDir,
  ]
    .filter(file => file !== null)
    .map(file => resolve(file))

/** Chooses how runs are isolated, and logs the choice. */
export async function openIsolation(
  { config, logger, tryIsolation }: Pick<Core, 'config' | 'logger' | 'tryIsolation'>,
  runsDirectory: string,
): Promise<Isolation> {
  const environments = environmentsIn(config)
  const recipes = recipesIn(config)
  await mkdir(runsDirectory, { recursive: true, mode: 0o700 })
  await mkdir(environments, { recursive: true, mode: 0o755 })
  const hidden = [config.dataDir, ownFolder, ...secretFilesOf(config)].map(realOf)
  const closed = [...hidden, ...closedFolders.map(realOf)]
  const ground = {
    runsDirectory,
    python: await findPython(),
    passed: [config.dataDir],
    needed: [environments, pythonClient, builtInRecipes, builtInTemplates, recipes],
    hidden,
    sockets: await controlSockets(process.env, process.getuid?.() ?? 0),
    readable: opened('SERVICE_LOCAL_READABLE', config.localReadable, closed),
    writable: opened('SERVICE_LOCAL_WRITABLE', config.localWritable, closed),
    ids: config.localIds,
    limits: {
      processes: config.localProcesses,
      memory_bytes: config.localMemory ?? defaultMemory(),
    },
  }
  const isolation = await chooseIsolation(config.localIsolation, ground, tryIsolation)
  const { notice, degraded: _, ...chosen } = describeIsolation(isolation)
  if (notice !== undefined) logger.warn(chosen, notice)
  else {
    const passedOver = Object.keys(isolation.not).length > 0 && { not: isolation.not }
    logger.info({ ...chosen, ...passedOver }, 'runs are isolated')
  }
  return isolation
}

/** Folders opened to runs, by their given and their resolved paths. Throws if one would expose a closed folder. */
function opened(setting: string, folders: readonly string[], closed: readonly string[]): string[] {
  return folders.flatMap(folder => {
    const real = realOf(folder)
    const above = closed.find(one => isIn(real, one))
    const inside = closed.find(one => isIn(one, real))
    if (above !== undefined)
      throw new CannotStart(
        `${setting}=${folder} is inside ${above}, which no run may reach: move what runs need to a folder outside it, and name that one.`,
      )
    if (inside !== undefined)
      throw new CannotStart(
        `${setting}=${folder} contains ${inside}, which no run may reach: name only those of its folders that runs need.`,
      )
    return [...new Set([folder, real])]
  })
}

let foundPython: ReturnType<typeof askPython> | null = null

/**
 * Asked once per process, because it takes a tenth of a second. Null if there is none: then no recipe can run either, and every
 * run reports that.
 */
function findPython() {
  foundPython ??= askPython()
  return foundPython
}

async function askPython() {
  try {
    const probe = await probePython(python)
    return { executable: probe.executable, files: filesOf(probe) }
  } catch {
    return null
  }
}
