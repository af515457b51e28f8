import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { attemptPaths, type ClaimRecord } from '../../executor/attempts/attempt-directory.ts'
import { currentTurn } from '../../executor/attempts/claims.ts'
import type { IsolationSetting } from '../../executor/node/isolation.ts'
import type { Launch } from '../../executor/port.ts'

/** A server in a separate process, once it has printed this line. */
export async function server(
  setting: IsolationSetting,
  runsDirectory: string,
  submitted: Launch,
  line: string,
  ...more: string[]
): Promise<ChildProcess> {
  const program = fileURLToPath(new URL('executor-process.ts', import.meta.url))
  const child = spawn(
    process.execPath,
    [program, setting, runsDirectory, JSON.stringify(submitted), ...more],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let printed = ''
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', chunk => {
      printed += chunk
      if (printed.includes(`${line}\n`)) resolve()
    })
    child.once('exit', () => reject(new Error(`the server ended after: ${printed}`)))
  })
  return child
}

export async function kill9(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

export async function claimOf(runsDirectory: string, ref: string): Promise<ClaimRecord | null> {
  return (await currentTurn(attemptPaths(path.join(runsDirectory, ref)))).claim
}

export async function killSupervisor(runsDirectory: string, ref: string): Promise<void> {
  const pid = (await claimOf(runsDirectory, ref))?.supervisor?.pid
  if (pid === undefined) throw new Error(`${ref} has no supervisor`)
  process.kill(pid, 'SIGKILL')
}
