import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AttemptPaths, Handover } from './attempt-directory.ts'

const program = fileURLToPath(new URL('supervisor.ts', import.meta.url))

/** On a machine with many starts at once a Node process may take its time. */
const patienceMs = 60_000

/** Small heaps: it holds a few records and never more. */
const flags = [
  '--max-old-space-size=32',
  '--max-semi-space-size=1',
  '--disable-warning=ExperimentalWarning',
]

/**
 * Starts the supervisor of a prepared attempt, in a session of its own, and waits until it has claimed the attempt or
 * given up. Throws when it could not be started or failed before the claim; then nothing runs and it may be tried again.
 */
export async function startShim(
  paths: AttemptPaths,
  handover: Handover,
  cacheDirectory: string,
): Promise<void> {
  const log = openSync(paths.supervisorLog, 'a', 0o600)
  const supervisor = spawn(process.execPath, [...flags, program, paths.directory], {
    cwd: '/',
    env: { NODE_COMPILE_CACHE: cacheDirectory },
    detached: true,
    stdio: ['pipe', 'pipe', log],
  })
  closeSync(log)
  const { stdin, stdout } = supervisor
  if (!stdin || !stdout) throw new Error('the supervisor was started without its pipes')
  // It may end before it has read everything (the claim was another's).
  stdin.on('error', () => {})
  stdin.end(JSON.stringify(handover))
  const timer = setTimeout(() => supervisor.kill('SIGKILL'), patienceMs)
  const failed = await new Promise<string | null>(resolve => {
    stdout.once('data', () => resolve(null))
    supervisor.once('error', error => resolve(error.message))
    // A lost claim ends it without a word: then another supervisor has the attempt.
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
