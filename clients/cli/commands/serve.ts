import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'

type ServeOptions = { roles?: string }

const server = join(import.meta.dirname, '../../../main.ts')

export function describeServe(command: Command): Command {
  return command
    .description('start the server on this machine; its settings are SERVICE_* variables')
    .option('--roles <list>', 'some of its parts only (SERVICE_ROLES)')
}

/** Runs the server in a child process: the CLI itself only speaks HTTP. */
export function serve({ roles }: ServeOptions): Promise<number> {
  const env = { ...process.env, ...(roles !== undefined && { SERVICE_ROLES: roles }) }
  const child = spawn(process.execPath, [server], { stdio: 'inherit', env })
  // A terminal sends Ctrl-C to the server too; this process only has to outlive it.
  process.on('SIGINT', () => {
    if (!process.stdin.isTTY) child.kill('SIGINT')
  })
  process.on('SIGTERM', () => void child.kill('SIGTERM'))
  process.on('SIGHUP', () => void child.kill('SIGTERM'))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) =>
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)),
    )
  })
}
