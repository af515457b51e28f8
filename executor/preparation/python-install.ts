import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'
import { isErrno } from '../attempts/durable-json.ts'
import type { PythonProbe } from './python-probe.ts'

/** How to build an environment (commands in order) and how to use it. */
export type Installation = {
  steps: string[][]
  /** Relative to the environment's directory; null: the Python that created it. */
  python: string | null
  /** Added to PYTHONPATH, relative to the environment's directory; null if not necessary. */
  packages: string | null
}

/** A wheel is unpacked; any other package would be built, by its own code. */
const onlyWheels = ['--only-binary', ':all:']
const quietly = ['--no-input', '--disable-pip-version-check', '--progress-bar', 'off']

/**
 * The fastest way that this Python offers. A virtual environment is filled by the host's pip (22.3 and newer), else
 * by its own pip; with neither `venv` nor `virtualenv`, packages go to a folder. The host's pip settings apply in
 * each case. Throws an error that says what to install if there is no way.
 */
export function planInstallation(
  probe: PythonProbe,
  directory: string,
  requirements: string | null,
  wheelsOnly = false,
): Installation {
  const python = probe.executable
  const inside = path.join(directory, 'bin', 'python')
  const install = installOf(requirements, wheelsOnly)
  const venv = (steps: string[][]): Installation => ({
    steps,
    python: path.join('bin', 'python'),
    packages: null,
  })
  if (probe.venv && requirements === null)
    return venv([[python, '-m', 'venv', '--without-pip', directory]])
  if (probe.venv && hostPipReaches(probe.pip))
    return venv([
      [python, '-m', 'venv', '--without-pip', directory],
      [python, '-m', 'pip', '--python', inside, ...install],
    ])
  if (probe.venv && probe.ensurepip)
    return venv([
      [python, '-m', 'venv', directory],
      [inside, '-m', 'pip', ...install],
    ])
  if (probe.virtualenv)
    return venv([
      [python, '-m', 'virtualenv', '--quiet', directory],
      ...(requirements === null ? [] : [[inside, '-m', 'pip', ...install]]),
    ])
  if (requirements === null) return { steps: [], python: null, packages: null }
  if (probe.pip === null) throw new Error(nothingToInstallWith(probe))
  const packages = path.join(directory, 'packages')
  return {
    steps: [[python, '-m', 'pip', ...install, '--target', packages]],
    python: null,
    packages: 'packages',
  }
}

const installOf = (requirements: string | null, wheelsOnly: boolean): string[] =>
  requirements === null
    ? []
    : ['install', ...quietly, ...(wheelsOnly ? onlyWheels : []), '-r', requirements]

function nothingToInstallWith({ executable, version, venv }: PythonProbe): string {
  const missing = venv ? 'neither pip nor ensurepip' : 'no venv, no virtualenv and no pip'
  return `Python ${version} (${executable}) has ${missing}, so the recipe's packages cannot be installed; on Debian: apt-get install python3-venv python3-pip`
}

/** `pip --python` exists since 22.3. */
function hostPipReaches(version: string | null): boolean {
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 3)
}

const keptLines = 12

/** Runs one step and forwards its output line by line. Throws with its last lines if it fails. */
export async function runStep(
  step: string[],
  directory: string,
  say: (line: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted()
  const [program = '', ...args] = step
  // In a separate group it ends together with its children. Without a signal it ends with the group of this process.
  const options = { cwd: directory, detached: signal !== undefined }
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const end = () => endGroup(child)
  signal?.addEventListener('abort', end)
  const last: string[] = []
  const hear = (line: string) => {
    if (isNoise(line)) return
    say(line)
    last.push(line)
    if (last.length > keptLines) last.shift()
  }
  const heard = [lines(child.stdout, hear), lines(child.stderr, hear)]
  const status = await new Promise<string>(resolve => {
    child.once('error', error => resolve(error.message))
    child.once('exit', (code, killedBy) => resolve(String(killedBy ?? code)))
  })
  signal?.removeEventListener('abort', end)
  if (status === '0') {
    await Promise.all(heard)
    return
  }
  await Promise.allSettled(heard)
  signal?.throwIfAborted()
  const what = args.includes('pip') ? 'pip install' : args.slice(0, 2).join(' ')
  throw new Error(
    `the Python environment could not be built: ${what} ended with ${status}\n${last.join('\n')}`,
  )
}

/** Its group may have just ended. */
function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if (!isErrno(error, 'ESRCH')) throw error
  }
}

/** pip names each line of the requirements that is for other Pythons. */
const isNoise = (line: string) => /^Ignoring \S+: markers /.test(line)

async function lines(stream: NodeJS.ReadableStream, hear: (line: string) => void): Promise<void> {
  let rest = ''
  stream.setEncoding('utf8')
  for await (const chunk of stream) {
    const parts = (rest + chunk).split(/\r?\n/)
    rest = parts.pop() ?? ''
    for (const line of parts) hear(line)
  }
  if (rest !== '') hear(rest)
}
