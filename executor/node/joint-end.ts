import type { ExitRecord } from '../attempts/attempt-directory.ts'
import type { Quarry } from './kill-run.ts'
import { trySignal } from './processes.ts'
import type { Started } from './start-command.ts'
import type { Stops } from './stop-requests.ts'

type End = Pick<ExitRecord, 'exit_code' | 'signal'>
/** `killed`: it was killed by us. */
export type Step = { end: End; killed: boolean }

/** How long the others may take to end after one has failed, in seconds. */
const peersGraceS = 10

/**
 * Waits until all ranks have ended. The first that fails decides how the attempt ends, and the others are stopped, unless
 * they are already being stopped.
 */
export async function endOfRanks(
  ranks: readonly Started[],
  quarry: Quarry,
  stops: Stops,
  tell: (message: string, rank: number) => void,
): Promise<Step> {
  let failed: Step | null = null
  let left = ranks.length
  const follow = async ({ pid, ended }: Started, rank: number) => {
    const end = await ended
    left--
    if (left > 0) endSession(quarry, pid)
    if (end.exit_code === 0 || failed !== null) return
    failed = { end, killed: stops.killed() }
    if (left === 0 || stops.requested()) return
    const how = end.signal ?? `exit code ${end.exit_code}`
    tell(`rank ${rank} ended with ${how}: the others are stopped`, rank)
    stops.heed({ grace_s: peersGraceS, force: false })
  }
  await Promise.all(ranks.map(follow))
  return failed ?? { end: { exit_code: 0, signal: null }, killed: stops.killed() }
}

/** While other ranks continue, the kernel may reuse its pid for an unrelated process. */
function endSession(quarry: Quarry, pid: number): void {
  trySignal(-pid, 'SIGKILL')
  quarry.sessions = quarry.sessions.filter(session => session !== pid)
}
