import { stat } from 'node:fs/promises'
import type {
  AttemptPaths,
  ClaimRecord,
  ExitRecord,
  StartedRecord,
} from '../attempts/attempt-directory.ts'
import { createDurably, readJson } from '../attempts/durable-json.ts'
import { bootId, isAlive } from '../attempts/process-identity.ts'
import { removeCgroup } from './cgroup.ts'
import { killRun, type Quarry } from './kill-run.ts'

export type ClaimedTurn = { number: number; claim: ClaimRecord }

/**
 * Ends an attempt whose supervisor vanished (killed, out of memory, reboot): kills its remaining processes and writes
 * the exit record. How the command ended is unknown, so the record has neither code nor signal. Several processes
 * may call this at once; one exit is recorded.
 */
export async function endLostAttempt(
  paths: AttemptPaths,
  { mark, owner, nodes }: Pick<Quarry, 'mark' | 'owner'> & { nodes: number },
  { number, claim }: ClaimedTurn,
  now: Date,
): Promise<void> {
  // Ended meanwhile: what the run's user does now may belong to its next attempt.
  if (await readJson(paths.exit)) return
  const started = await readJson<StartedRecord>(paths.started)
  const rebooted = claim.supervisor !== null && claim.supervisor.boot_id !== bootId()
  // The session id is reliable only while its leader lives; otherwise the pid may have been reused.
  const living = started ? [started.leader, ...(started.others ?? [])].filter(isAlive) : []
  const sessions = living.map(({ pid }) => pid)
  // An unclaimed attempt has run nothing, and the run's user may be active in another attempt.
  const user = claim.supervisor === null ? null : owner
  const quarry = { mark, cgroup: claim.cgroup, sessions, owner: user }
  const left = rebooted ? 0 : await killRun(quarry)
  if (!rebooted) removeCgroup(claim.cgroup)
  const proof = living.length > 0 ? now : await lastProofOfLife(paths, number, nodes)
  // The run owns its output, and can set any time on it.
  const endedAt = proof < now ? proof : now
  await createDurably(paths.exit, {
    started_at: started?.started_at ?? null,
    ended_at: endedAt.toISOString(),
    exit_code: null,
    signal: null,
    oom_killed: false,
    launch_error: reason(claim, rebooted, left),
  } satisfies ExitRecord)
}

function reason(claim: ClaimRecord, rebooted: boolean, left: number): string {
  if (claim.supervisor === null) return 'stopped before it was started'
  if (rebooted) return 'supervisor lost: the machine restarted'
  if (left > 0) return `supervisor lost, and ${left} processes could not be killed`
  return 'supervisor lost'
}

/** The later of the supervisor's heartbeat and the last output of a rank. */
async function lastProofOfLife(paths: AttemptPaths, turn: number, nodes: number): Promise<Date> {
  const printed = Array.from({ length: nodes }, (_, rank) => paths.rank(rank))
  const files = [
    paths.claim(turn),
    paths.started,
    ...printed.flatMap(({ stdout, stderr }) => [stdout, stderr]),
  ]
  const times = await Promise.all(files.map(file => stat(file).catch(() => null)))
  return new Date(Math.max(...times.map(found => found?.mtimeMs ?? 0)))
}
