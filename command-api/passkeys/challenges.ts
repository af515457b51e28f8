import { randomBytes } from 'node:crypto'
import { sha256 } from '../../auth/opaque-token.ts'
import type { Deps } from '../deps.ts'

/** How long the response to a challenge is awaited, in milliseconds. */
export const awaitedMs = 5 * 60_000

type Needed = Pick<Deps, 'pool' | 'now'>

/**
 * Whose response is awaited: of a session that confirms itself or registers a passkey; of a person whose password was right, in the
 * second step of their sign-in; of anybody, who signs in with the passkey alone (both null).
 */
export type ChallengeOf = { sid: string | null; username: string | null }

/** A new challenge. Forgets a few that expired. */
export async function newChallenge(
  { pool, now }: Needed,
  { sid, username }: ChallengeOf,
): Promise<Uint8Array<ArrayBuffer>> {
  const challenge = new Uint8Array(randomBytes(32))
  const at = now()
  await pool.query(
    `with expired as (
       delete from auth.passkey_challenge where challenge_sha256 in
         (select challenge_sha256 from auth.passkey_challenge where expires_at < $5
           limit 20 for update skip locked))
     insert into auth.passkey_challenge (challenge_sha256, sid, username, expires_at)
     values ($1, $2, $3, $4)`,
    [sha256(textOf(challenge)), sid, username, new Date(at.getTime() + awaitedMs), at],
  )
  return challenge
}

/** Whether this challenge was given to the same session, person or sign-in, and was not used before. */
export async function takeChallenge(
  { pool, now }: Needed,
  { sid, username }: ChallengeOf,
  challenge: string,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `delete from auth.passkey_challenge
      where challenge_sha256 = $1 and sid is not distinct from $2
        and username is not distinct from $3 and expires_at >= $4`,
    [sha256(challenge), sid, username, now()],
  )
  return rowCount === 1
}

const textOf = (challenge: Uint8Array) => Buffer.from(challenge).toString('base64url')
