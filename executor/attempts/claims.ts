import type { AttemptPaths, ClaimRecord } from './attempt-directory.ts'
import { createDurably, readJson } from './durable-json.ts'

/** `claim` is null while the turn is free. */
export type Turn = { number: number; claim: ClaimRecord | null }

/**
 * The current turn of an attempt. The process that creates a turn's claim owns the turn permanently: a supervisor, or
 * the server instead of one. Only a claim with `interrupted` opens another turn, for a submit that follows an
 * interrupted one; a late supervisor of the interrupted submit finds its turn taken.
 */
export async function currentTurn(paths: Pick<AttemptPaths, 'claim'>): Promise<Turn> {
  for (let number = 1; ; number++) {
    const claim = await readJson<ClaimRecord>(paths.claim(number))
    if (claim?.given_up !== 'interrupted') return { number, claim }
  }
}

/** Takes the attempt's turn so that no supervisor can. No-op if a supervisor already has it. */
export async function giveUp(
  paths: Pick<AttemptPaths, 'claim'>,
  why: NonNullable<ClaimRecord['given_up']>,
): Promise<void> {
  const { number, claim } = await currentTurn(paths)
  if (claim) return
  await createDurably(paths.claim(number), {
    supervisor: null,
    given_up: why,
    cgroup: null,
    no_cgroup_reason: null,
  } satisfies ClaimRecord)
}
