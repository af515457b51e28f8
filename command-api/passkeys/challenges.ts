import { randomBytes } from 'node:crypto'
import { sha256 } from '../../auth/opaque-token.ts'
import type { Deps } from '../deps.ts'

/** How long the response to a challenge is awaited, in milliseconds. */
export const awaitedMs = 5 * 60_000

type Needed = Pick<Deps, 'pool' | 'now'>

/** A new challenge for this session, or for a sign-in (null). Forgets a few that expired. */
export async function newChallenge(
  { pool, now }: Needed,
  sid: string | null,
): Promise<Uint8Array<ArrayBuffer>> {
  const challenge = new Uint8Array(randomBytes(32))
  const at = now()
  await pool.query(
    `with expired as (
       delete from auth.passkey_challenge where challenge_sha256 in
         (select challenge_sha256 from auth.passkey_challenge where expires_at < $4
           limit 20 for update skip locked))
     insert into auth.passkey_challenge (challenge_sha256, sid, expires_at) values ($1, $2, $3)`,
    [sha256(textOf(challenge)), sid, new Date(at.getTime() + awaitedMs), at],
  )
  return challenge
}

/** Whether this challenge was given to this session, or to a sign-in (null), and was not used before. */
export async function takeChallenge(
  { pool, now }: Needed,
  sid: string | null,
  challenge: string,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `delete from auth.passkey_challenge
      where challenge_sha256 = $1 and sid is not distinct from $2 and expires_at >= $3`,
    [sha256(challenge), sid, now()],
  )
  return rowCount === 1
}

const textOf = (challenge: Uint8Array) => Buffer.from(challenge).toString('base64url')
