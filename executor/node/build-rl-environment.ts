import { chmod, mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { FaultyRecipe } from '../../recipes/catalogue.ts'
import { environmentArchive, loadEnvironment } from '../../recipes/rl-environment.ts'
import { unpackFolder } from '../../recipes/unpack-folder.ts'
import type { SmokeRollout } from '../../schemas/rl-environments/rl-environments.ts'
import type { PythonEnvironment } from '../preparation/python-environment.ts'
import { pythonOfEnvironment } from '../preparation/rl-environment.ts'
import { type ProgramEnd, runIsolated } from './isolated-program.ts'
import type { Isolation } from './isolation.ts'

export type BuildingHost = {
  isolation: Isolation
  /** Holds the Python environments of all runs. */
  environmentsDirectory: string
  /** The bundled reporting client, which runs the rollouts. */
  clientDirectory: string
  python: string
}

export type ToBuild = {
  build_id: string
  archive: string
  digest: string
  entry: string
  args: Record<string, unknown>
  rollouts: { count: number; url: string; model: string; token: string } | null
}

export type Built = { error: string | null; log: string; rollouts: SmokeRollout[] }

const mib = 1024 * 1024
/** What loading an environment and all of its rollouts may take. */
const limits = { ms: 600_000, outputBytes: 8 * mib, diskBytes: 1024 * mib }
/** How much of the log is kept, in characters: its end. */
const keptLog = 48 * 1024

/** Builds an RL environment on this machine, loads its entry in isolation, and runs rollouts if there is a model for them. */
export const buildEnvironment =
  (host: BuildingHost) =>
  async (wanted: ToBuild, signal: AbortSignal): Promise<Built> => {
    const lines: string[] = []
    const say = (line: string) => lines.push(`[forge] ${line}\n`)
    const finish = (error: string | null, rollouts: SmokeRollout[] = []): Built => {
      if (error !== null) say(error)
      return { error: error && printed(error).slice(0, 2000), log: logOf(lines, wanted), rollouts }
    }
    const folder = path.join(host.isolation.ground.runsDirectory, `.${wanted.build_id}-files`)
    // Left by a process that was killed.
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { mode: 0o755 })
    try {
      const root = await unpackFolder(wanted.archive, folder, environmentArchive)
      const { digest, requirements } = await loadEnvironment(root)
      if (digest !== wanted.digest)
        return finish(`the archive on this machine has other files (${digest})`)
      await chmod(root, 0o755)
      if (requirements.length > 0) say(`installing ${requirements.join(', ')}`)
      const python = await installed(host, root, { say, signal })
      if (typeof python === 'string') return finish(python)
      signal.throwIfAborted()
      const end = await runIsolated(
        host.isolation,
        programOf(host, wanted, { root, python }),
        signal,
      )
      lines.push(end.stderr)
      return finish(...resultOf(end, wanted))
    } catch (error) {
      if (error instanceof FaultyRecipe) return finish(error.message)
      throw error
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

type Tried = { root: string; python: PythonEnvironment }

function programOf(host: BuildingHost, wanted: ToBuild, { root, python }: Tried) {
  const { build_id, entry, args, rollouts } = wanted
  const order = { path: root, entry, args, count: rollouts?.count ?? 0, model: rollouts?.model }
  return {
    name: build_id,
    command: [python.python, '-m', 'forge.rollouts'],
    env: {
      ...python.variables,
      PYTHONPATH: [host.clientDirectory, python.variables.PYTHONPATH]
        .filter(Boolean)
        .join(path.delimiter),
      ...{ PYTHONUNBUFFERED: '1', PYTHONDONTWRITEBYTECODE: '1', PYTHONNOUSERSITE: '1' },
      FORGE_ROLLOUTS: JSON.stringify(order),
      ...(rollouts && { OPENAI_BASE_URL: rollouts.url, OPENAI_API_KEY: rollouts.token }),
    },
    readable: [...python.files, root, host.clientDirectory],
    limits,
  }
}

/** The Python for the environment, or why its packages cannot be installed. */
async function installed(
  { environmentsDirectory, python }: BuildingHost,
  root: string,
  { say, signal }: { say: (line: string) => void; signal: AbortSignal },
): Promise<PythonEnvironment | string> {
  try {
    const onBuild = async () => {}
    const wish = { environmentsDirectory, python, say, onBuild, signal }
    return await pythonOfEnvironment(wish, root)
  } catch (error) {
    signal.throwIfAborted()
    return error instanceof Error ? error.message : String(error)
  }
}

const exceededInWords: Record<NonNullable<ProgramEnd['exceeded']>, string> = {
  ms: `it took more than ${limits.ms / 60_000} minutes`,
  outputBytes: `it wrote more than ${limits.outputBytes / mib} MiB of output`,
  diskBytes: `it wrote more than ${limits.diskBytes / mib} MiB of files`,
}

/** The code of the environment may have written anything; what does not read as a result is left out. */
function resultOf(
  end: ProgramEnd,
  { rollouts: asked, entry }: ToBuild,
): [error: string | null, rollouts: SmokeRollout[]] {
  const said = end.stdout.split('\n').flatMap(reportIn)
  const failure = said.find(one => one.event === 'failed')
  const rollouts = said
    .filter(one => one.event === 'rollout')
    .slice(0, asked?.count ?? 0)
    .map(rolloutIn)
  if (end.exceeded !== null)
    return [`The environment was stopped: ${exceededInWords[end.exceeded]}`, rollouts]
  if (failure) return [`${entry} cannot be loaded: ${textIn(failure.error)}`, []]
  if (end.exit_code !== 0)
    return [`The environment ended with ${end.signal ?? `exit code ${end.exit_code}`}`, rollouts]
  const broken = rollouts.findIndex(one => one.error !== null)
  if (broken >= 0)
    return [
      `Rollout ${broken + 1} of ${rollouts.length} failed: ${rollouts[broken]?.error}`,
      rollouts,
    ]
  if (asked && rollouts.length < asked.count)
    return [`Only ${rollouts.length} of ${asked.count} rollouts were reported`, rollouts]
  if (!asked && !said.some(one => one.event === 'loaded'))
    return [`${entry} did not load`, rollouts]
  return [null, rollouts]
}

type Report = Record<string, unknown>

function reportIn(line: string): Report[] {
  try {
    const report: unknown = JSON.parse(line)
    return typeof report === 'object' && report !== null ? [report as Report] : []
  } catch {
    return []
  }
}

function rolloutIn({ reward, error, duration_s }: Report): SmokeRollout {
  const isNumber = typeof reward === 'number' && Number.isFinite(reward)
  const fault = isNumber && error === null ? null : textIn(error)
  return {
    reward: fault === null && isNumber ? reward : null,
    error: fault,
    duration_s:
      typeof duration_s === 'number' && Number.isFinite(duration_s) ? Math.max(0, duration_s) : 0,
  }
}

const textIn = (value: unknown): string =>
  typeof value === 'string' && value !== '' ? printed(value).slice(0, 500) : 'no reason was given'

/** What PostgreSQL and JSON can hold. */
const printed = (text: string): string => text.replaceAll('\0', '').toWellFormed()

/** The end of the log, without the credential. */
function logOf(lines: readonly string[], { rollouts }: ToBuild): string {
  const log = printed(lines.join(''))
  const safe = rollouts ? log.replaceAll(rollouts.token, '[credential]') : log
  return safe.length > keptLog ? `[…]\n${safe.slice(-keptLog).toWellFormed()}` : safe
}
