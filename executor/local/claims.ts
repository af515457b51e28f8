import type { AttemptPaths, ClaimRecord } from './attempt-directory.ts'
import { createDurably, readJson } from './durable-json.ts'

/** `claim` is null while nobody has this turn. */
export type Turn = { number: number; claim: ClaimRecord | null }

/**
 * The turn an attempt is at. Who creates a turn's claim has it, for ever: a supervisor, or the server in the place of
 * one. Only a claim that says `interrupted` opens another turn, for a submit that comes after one that was cut short; a
 * supervisor still on its way from that one finds its turn taken.
 */
export async function currentTurn(paths: AttemptPaths): Promise<Turn> {
  for (let number = 1; ; number++) {
    const claim = await readJson<ClaimRecord>(paths.claim(number))
    if (claim?.given_up !== 'interrupted') return { number, claim }
  }
}

/** Takes the attempt's turn so that no supervisor gets it. Nothing happens where one has. */
export async function giveUp(
  paths: AttemptPaths,
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
