import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ExecutionContext } from 'ava'
import type { Cgroup } from '../../executor/attempts/attempt-directory.ts'
import { until } from '../servers/until.ts'
import { commandLinesWith } from './attempts.ts'
import { systemPython } from './bench.ts'

/**
 * Each process starts the next one in a new session and ends, for at most two minutes; each writes a byte. A list of
 * processes that is read meanwhile hardly ever names the living one.
 */
const links = `
import os, time
end = time.monotonic() + 120
for link in range(1000000):
    if time.monotonic() > end: break
    if os.fork(): os._exit(0)
    os.setsid()
    os.write(1, b".")
`

/** The command, without anything in its environment. */
export const forkChainCommand = ['/usr/bin/env', '-i', systemPython, '-c', links]

/** The child enters the group itself: this process, which other tests share, stays out of it. */
export const within = ({ directory }: Cgroup, command: readonly string[]): string[] => [
  ...['/bin/sh', '-c', 'echo $$ > "$0" && exec "$@"', path.join(directory, 'cgroup.procs')],
  ...command,
]

/** Starts a chain as this user, or as the current one. */
export function forkChain(
  t: ExecutionContext,
  { uid, cgroup }: { uid: number | null; cgroup: Cgroup | null },
): Promise<{ mark: string; grows(): Promise<boolean> }> {
  const mark = randomUUID()
  const output = path.join(tmpdir(), `forge-chain-${mark}`)
  const stdout = openSync(output, 'w')
  t.teardown(() => rm(output, { force: true }))
  const [program = '', ...args] = cgroup ? within(cgroup, forkChainCommand) : forkChainCommand
  spawn(program, args, {
    ...(uid !== null && { uid, gid: uid }),
    cwd: '/',
    detached: true,
    stdio: ['ignore', stdout, 'ignore'],
  })
  closeSync(stdout)
  return until('the chain runs', 50_000, () => readFileSync(output).length > 20).then(() => ({
    mark,
    grows: () => grows(output),
  }))
}

/** Whether a chain still writes to this file. */
export async function grows(output: string): Promise<boolean> {
  const before = readFileSync(output).length
  // Takes far longer than a link of the chain.
  for (let look = 0; look < 20; look++) await commandLinesWith('any')
  return readFileSync(output).length > before
}
