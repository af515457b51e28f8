import { spawn } from 'node:child_process'
import { execPath } from 'node:process'
import { exitCodeOfSignal } from './output.ts'
import type { World } from './session.ts'

type Program = { args?: readonly string[]; env?: Record<string, string | undefined> }

/** Runs one of the server's programs on this machine in a child process; resolves to its exit code. */
export function runHere(
  { process, env: own }: World,
  path: string,
  { args = [], env = own }: Program,
): Promise<number> {
  const child = spawn(execPath, [path, ...args], { stdio: 'inherit', env })
  // A terminal sends Ctrl-C to the child too; this process only has to outlive it.
  process.on('SIGINT', () => {
    if (!process.stdin.isTTY) child.kill('SIGINT')
  })
  process.on('SIGTERM', () => void child.kill('SIGTERM'))
  process.on('SIGHUP', () => void child.kill('SIGTERM'))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(code ?? (signal ? exitCodeOfSignal(signal) : 1)))
  })
}
