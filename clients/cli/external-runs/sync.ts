import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode, Failure } from '../program/failure.ts'
import type { World } from '../program/session.ts'

const pythonClient = fileURLToPath(new URL('../../python/src', import.meta.url))

export const describeSync = describe({
  text: 'send reports that wait on this machine because no server could be reached',
  operands: { '[run...]': 'only these runs, by run id or by the local id of their folder' },
  after: `
They are in FORGE_SPOOL_DIR, or else in ~/.forge/spool. Sending something twice does not store it twice.
Runs that could not be created when they began are created now, as the person who is signed in.
The exit code is 6 if something could not be sent.`,
})

/** The Python client wrote most of them, and sends them all. */
export async function sync({ env }: World, runs: readonly string[]): Promise<ExitCode> {
  const PYTHONPATH = [pythonClient, env.PYTHONPATH].filter(Boolean).join(':')
  const child = spawn('python3', ['-m', 'forge', 'sync', ...runs], {
    env: { ...env, PYTHONPATH },
    stdio: 'inherit',
  })
  return new Promise((resolve, reject) => {
    child.once('error', error =>
      reject(new Failure(exitCode.unavailable, `python3 cannot be started: ${error.message}`)),
    )
    child.once('close', code => resolve(code === 0 ? exitCode.ok : exitCode.unavailable))
  })
}
