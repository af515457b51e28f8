import { setTimeout as delay } from 'node:timers/promises'
import { type Cgroup, killCgroup, membersOf } from './cgroup.ts'
import { processesOfRun, signalProcess } from './processes.ts'

/**
 * How to find a run's processes; `session` (the pid of its leader) is set only while that pid is known to be the
 * run's, and `owner` only where the run has a user that nobody else has.
 */
export type Quarry = {
  mark: string
  cgroup: Cgroup | null
  session: number | null
  owner: number | null
}

/** A process in uninterruptible sleep (a dead network disk) may survive SIGKILL for a while. */
const patienceMs = 10_000

/** Kills all processes of a run, in rounds until none is found. Returns how many remain. */
export async function killRun(quarry: Quarry): Promise<number> {
  if (quarry.mark === '') throw new Error('a run without a mark cannot be told from others')
  const deadline = performance.now() + patienceMs
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, 200)) {
    const left = killOnce(quarry)
    if (left === 0 || performance.now() > deadline) return left
    await delay(pauseMs)
  }
}

function killOnce({ mark, cgroup, session, owner }: Quarry): number {
  const inside = cgroup ? membersOf(cgroup) : []
  if (cgroup && inside.length > 0) killCgroup(cgroup)
  const rows = processesOfRun(mark, session, owner)
  for (const row of rows) signalProcess(row, 'SIGKILL')
  return new Set([...inside, ...rows.map(row => row.pid)]).size
}
