import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AttemptPaths, Handover } from '../attempts/attempt-directory.ts'

const program = fileURLToPath(new URL('supervisor.ts', import.meta.url))

/** Long, because Node starts slowly on a machine with many concurrent starts. */
const patienceMs = 60_000

/** A small heap: the supervisor holds only a few records. */
const flags = [
  '--max-old-space-size=32',
  '--max-semi-space-size=1',
  '--disable-warning=ExperimentalWarning',
]

/** Where supervisors cache compiled code: in the server's own cache, if it has one. */
export const codeCacheOf = (runsDirectory: string): string =>
  process.env.NODE_COMPILE_CACHE || path.join(runsDirectory, '.code-cache')

/**
 * Starts the supervisor of a prepared attempt in its own session and waits until it has claimed the attempt or given
 * up. Throws if it fails before the claim; then nothing runs and the start may be retried.
 */
export async function startSupervisor(
  paths: AttemptPaths,
  handover: Handover,
  cacheDirectory: string,
): Promise<void> {
  const supervisor = spawnSupervisor(paths, handover, cacheDirectory)
  const { stdout } = supervisor
  if (!stdout) throw new Error('the supervisor was started without its pipes')
  const timer = setTimeout(() => supervisor.kill('SIGKILL'), patienceMs)
  const failed = await new Promise<string | null>(resolve => {
    stdout.once('data', () => resolve(null))
    supervisor.once('error', error => resolve(error.message))
    // A supervisor that loses the claim exits silently: another one has the attempt.
    supervisor.once('exit', (code, signal) =>
      resolve(code === 0 ? null : `ended with ${signal ?? code}`),
    )
  })
  clearTimeout(timer)
  stdout.destroy()
  supervisor.unref()
  if (failed === null) return
  const said = await readFile(paths.supervisorLog, 'utf8')
  const name = `the supervisor of ${path.basename(path.dirname(paths.directory))}`
  throw new Error(`${name} did not start: ${failed} ${said.slice(-2000)}`.trim())
}

/** Starts a supervisor with its handover; does not wait for its claim, which it reports on its standard output. */
export function spawnSupervisor(
  paths: Pick<AttemptPaths, 'directory' | 'supervisorLog'>,
  handover: Handover,
  cacheDirectory: string,
): ChildProcess {
  const log = openSync(paths.supervisorLog, 'a', 0o600)
  const supervisor = spawn(process.execPath, [...flags, program, paths.directory], {
    cwd: '/',
    env: { NODE_COMPILE_CACHE: cacheDirectory },
    detached: true,
    stdio: ['pipe', 'pipe', log],
  })
  closeSync(log)
  // It may end before reading everything, if the claim was taken.
  supervisor.stdin?.on('error', () => {})
  supervisor.stdin?.end(JSON.stringify(handover))
  return supervisor
}
