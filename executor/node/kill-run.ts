import { execFile } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Cgroup } from '../attempts/attempt-directory.ts'
import { killCgroup, membersOf } from './cgroup.ts'
import { processesOfRun, signalProcess, trySignal } from './processes.ts'

/** The user of a run, and the Python that runs `end-user.py`; null if none is installed. */
export type Owner = { id: number; python: string | null }

/**
 * How to find a run's processes; `sessions` (the pids of their leaders, by rank) are set only while they are known to be
 * the run's, and `owner` only if the run has its own user.
 */
export type Quarry = {
  mark: string
  cgroup: Cgroup | null
  sessions: readonly number[]
  owner: Owner | null
}

/** A process in uninterruptible sleep (a dead network disk) may survive SIGKILL for a while. */
const patienceMs = 10_000

/** How often to retry killing everything of the run's user when no process is visible. */
const endUserTries = 3

/**
 * Kills all processes of a run, in rounds until no process is found. Returns how many remain.
 *
 * A process that forks and ends again and again is never where a list says it is, and an empty list proves nothing. Only a
 * signal to all processes at once reaches it: to the control group, the user of the run, the process group, or the first
 * process of a namespace (the leader of the session in bubblewrap), whose end also ends all others in there.
 */
export async function killRun(quarry: Quarry): Promise<number> {
  const { mark, owner } = quarry
  if (mark === '') throw new Error('a run without a mark cannot be distinguished from others')
  const deadline = performance.now() + patienceMs
  let tries = owner ? endUserTries : 0
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, 200)) {
    const left = await killOnce(quarry)
    if (left + tries === 0 || performance.now() > deadline) return left
    if (owner) tries = (await endUser(owner)) ? 0 : Math.max(tries - 1, 0)
    await delay(pauseMs)
  }
}

async function killOnce({ mark, cgroup, sessions, owner }: Quarry): Promise<number> {
  const inside = cgroup ? membersOf(cgroup) : []
  if (cgroup) await killCgroup(cgroup)
  for (const session of sessions) trySignal(-session, 'SIGKILL')
  const rows = processesOfRun(mark, sessions, owner?.id ?? null)
  for (const row of rows) signalProcess(row, 'SIGKILL')
  return new Set([...inside, ...rows.map(row => row.pid)]).size
}

const endUserProgram = fileURLToPath(new URL('end-user.py', import.meta.url))

/** Returns whether everything that the user had was reached. */
async function endUser({ id, python }: Owner): Promise<boolean> {
  if (python === null || process.getuid?.() !== 0) return false
  const options = { timeout: 5000, killSignal: 'SIGKILL', cwd: '/', env: {} } as const
  const args = ['-I', '-S', '-B', endUserProgram, String(id)]
  return promisify(execFile)(python, args, options).then(
    () => true,
    () => false,
  )
}
