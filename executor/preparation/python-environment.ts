import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { access, mkdir, readdir, readFile, readlink, realpath, rm, symlink } from 'node:fs/promises'
import path from 'node:path'
import { isErrno, readJson, writeDurably } from '../attempts/durable-json.ts'
import { type Identity, identify, isAlive } from '../attempts/process-identity.ts'
import { ageOf, inTurn, isElsewhere } from './in-turn.ts'
import { planInstallation, runStep } from './python-install.ts'
import { filesOf, type PythonProbe, probePython } from './python-probe.ts'

/** The Python program, and variables to add to its environment. */
type Usable = { python: string; variables: Record<string, string> }
type Found = { python: string; packages: string | null }

/** `files`: the paths that a program running in it must be able to read. */
export type PythonEnvironment = Usable & { files: string[] }

export type EnvironmentWish = {
  environmentsDirectory: string
  runtimeId: string
  recipeDirectory: string
  python: string
  /**
   * Whether people wrote the requirements, and not administrators: none of the code in the folder or in the packages is executed while
   * they are installed, because that happens outside the isolation of runs.
   */
  isUntrusted?: boolean
  /** Ends the build and the programs that it has started. */
  signal?: AbortSignal
  say(line: string): void
  /** Called once if the environment must be built. */
  onBuild(): Promise<void>
}

/**
 * `place`: the folder it was built in, by which a copied one is recognized. The paths are relative to that folder;
 * `python` is null if it is the Python that built the environment. Earlier versions stored absolute paths, and no place.
 */
type Manifest = { place?: string; python: string | null; packages: string | null }

/**
 * The Python environment of a recipe, built by the first run that needs it and shared by all later ones. The key is
 * runtime id, requirements and Python. One of several concurrent runs builds it and the others wait; a killed builder leaves
 * nothing that could be mistaken for an environment.
 *
 * Environments cannot be moved, so each is built in its final place, `build-<builder>`, and published by the link
 * `current`, which only the first builder can create. The lock only saves work; two builders after a takeover are
 * harmless.
 */
export async function ensureEnvironment(wish: EnvironmentWish): Promise<PythonEnvironment> {
  const probe = await probePython(wish.python)
  const requirements = await requirementsOf(wish.recipeDirectory)
  const key = environmentKeyOf(probe, requirements)
  const directory = path.join(wish.environmentsDirectory, `${wish.runtimeId}-${key}`)
  const usable = await buildOnce(wish, probe, requirements.length > 0, directory)
  return { ...usable, files: [directory, ...filesOf(probe)] }
}

async function buildOnce(
  wish: EnvironmentWish,
  probe: PythonProbe,
  hasRequirements: boolean,
  directory: string,
): Promise<Usable> {
  const ready = await published(directory, probe)
  if (ready) return ready
  await wish.onBuild()
  await mkdir(directory, { recursive: true })
  return inTurn(path.join(directory, lockFile), {
    ready: () => published(directory, probe),
    onWait: () => wish.say('another run is building this Python environment; waiting for it'),
    ...(wish.signal && { signal: wish.signal }),
    async make() {
      await removeDeadBuilds(directory)
      return build(wish, probe, hasRequirements, directory)
    },
  })
}

async function build(
  wish: EnvironmentWish,
  probe: PythonProbe,
  hasRequirements: boolean,
  directory: string,
): Promise<Usable> {
  const startedMs = performance.now()
  const name = buildName(identify(process.pid))
  const target = path.join(directory, name)
  const requirements = hasRequirements ? path.join(wish.recipeDirectory, requirementsFile) : null
  const { isUntrusted = false } = wish
  const installation = planInstallation(probe, target, requirements, isUntrusted)
  wish.say(`building the Python environment ${wish.runtimeId} (Python ${probe.version})`)
  await mkdir(target, { recursive: true })
  // Python finds modules in the folder in which it is started.
  const folder = isUntrusted ? target : wish.recipeDirectory
  for (const step of installation.steps) await runStep(step, folder, wish.say, wish.signal)
  const { python, packages } = installation
  const manifest: Manifest = { place: target, python, packages }
  await writeDurably(path.join(target, manifestFile), manifest)
  await flush(target)
  await publish(directory, name)
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  wish.say(`the Python environment is ready after ${seconds} s`)
  const ready = await published(directory, probe)
  if (!ready) throw new Error(`the Python environment in ${directory} vanished`)
  return ready
}

/** No build of another machine takes longer. */
const longestBuildMs = 24 * 3_600_000

const mayStillBuild = async (builder: Identity, folder: string): Promise<boolean> =>
  isAlive(builder) || (isElsewhere(builder) && (await ageOf(folder)) < longestBuildMs)

const requirementsFile = 'requirements.txt'
const currentLink = 'current'
const lockFile = 'building.json'
const manifestFile = 'forge-environment.json'

/** Names and contents of all `requirements*.txt` of the recipe, since one may include another. */
async function requirementsOf(recipeDirectory: string): Promise<string[]> {
  const names = (await readdir(recipeDirectory)).filter(name => /^requirements.*\.txt$/.test(name))
  if (!names.includes(requirementsFile)) return []
  return Promise.all(
    names.sort().map(async name => `${name}\n${await readFile(path.join(recipeDirectory, name))}`),
  )
}

function environmentKeyOf(probe: PythonProbe, requirements: string[]): string {
  const parts = [probe.executable, probe.version, probe.abi, ...requirements]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16)
}

/** Null if it does not exist, was copied here from elsewhere, or its Python was removed from the machine. */
async function published(directory: string, probe: PythonProbe): Promise<Usable | null> {
  const current = path.join(directory, currentLink)
  const name = await linkTarget(current)
  if (name === null) return null
  const target = path.join(directory, name)
  const manifest = await readJson<Manifest>(path.join(target, manifestFile))
  if (manifest && (await isSameFolder(placeOfEnvironment(manifest), target))) {
    const { python, packages } = manifest
    const usable = {
      python: python === null ? probe.executable : path.resolve(target, python),
      packages: packages && path.resolve(target, packages),
    }
    if (await isExecutable(usable.python)) return toEnvironment(usable)
  }
  await rm(current, { force: true })
  return null
}

/** Null: nothing in it names the place. */
function placeOfEnvironment({ place, python, packages }: Manifest): string | null {
  if (place !== undefined) return place
  if (packages !== null) return path.dirname(packages)
  const folder = path.dirname(path.dirname(python ?? ''))
  return path.basename(folder).startsWith('build-') ? folder : null
}

/** The programs of an environment name its place, so a copy of it would run those of the original. */
async function isSameFolder(place: string | null, folder: string): Promise<boolean> {
  if (place === null || place === folder) return true
  const [built, found] = await Promise.all([
    realpath(place).catch(() => null),
    realpath(folder).catch(() => null),
  ])
  return built !== null && built === found
}

async function linkTarget(link: string): Promise<string | null> {
  try {
    return await readlink(link)
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null
    throw error
  }
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function toEnvironment({ python, packages }: Found): Usable {
  if (packages !== null) return { python, variables: { PYTHONPATH: packages } }
  const bin = path.dirname(python)
  return {
    python,
    variables: {
      VIRTUAL_ENV: path.dirname(bin),
      PATH: `${bin}${path.delimiter}${process.env.PATH ?? ''}`,
    },
  }
}

async function publish(directory: string, name: string): Promise<void> {
  try {
    await symlink(name, path.join(directory, currentLink))
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error
    // Another builder was first; discard ours.
    await rm(path.join(directory, name), { recursive: true, force: true })
  }
}

/** Syncs thousands of files in one call, before the link publishes them. */
async function flush(directory: string): Promise<void> {
  const sync = spawn('sync', ['-f', directory], { stdio: 'ignore' })
  await once(sync, 'exit').catch(() => {})
}

/** The name contains the builder's identity, so that work of dead builders can be recognized. */
function buildName(builder: Identity | null): string {
  if (!builder) throw new Error('the local executor needs /proc')
  return `build-${builder.pid}-${builder.start_ticks}-${builder.boot_id}`
}

async function removeDeadBuilds(directory: string): Promise<void> {
  const inUse = await linkTarget(path.join(directory, currentLink))
  for (const name of await readdir(directory)) {
    if (name === inUse) continue
    const [, pid, startTicks = '', bootId = ''] = /^build-(\d+)-(\d+)-(.+)$/.exec(name) ?? []
    if (pid === undefined) continue
    const builder = { pid: Number(pid), start_ticks: startTicks, boot_id: bootId }
    if (!(await mayStillBuild(builder, path.join(directory, name))))
      await rm(path.join(directory, name), { recursive: true, force: true })
  }
}
