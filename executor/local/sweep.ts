import { setTimeout as delay } from 'node:timers/promises'
import { type Cgroup, killCgroup, membersOf } from './cgroup.ts'
import { processesOfRun, signalProcess } from './processes.ts'

/**
 * Where a run's processes are to be looked for; `session` (the pid of its leader) only while that number is known to
 * be the run's.
 */
export type Quarry = { mark: string; cgroup: Cgroup | null; session: number | null }

/** A process in uninterruptible sleep (a dead network disk) may outlive any kill for a while. */
const patienceMs = 10_000

/** Kills everything of a run, in rounds until a look finds nothing. Answers how many are still there. */
export async function killRun(quarry: Quarry): Promise<number> {
  const deadline = performance.now() + patienceMs
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, 200)) {
    const left = killOnce(quarry)
    if (left === 0 || performance.now() > deadline) return left
    await delay(pauseMs)
  }
}

function killOnce({ mark, cgroup, session }: Quarry): number {
  const inside = cgroup ? membersOf(cgroup) : []
  if (cgroup && inside.length > 0) killCgroup(cgroup)
  const rows = processesOfRun(mark, session)
  for (const row of rows) signalProcess(row, 'SIGKILL')
  return new Set([...inside, ...rows.map(row => row.pid)]).size
}
