import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import { type UserEvent, userAt } from '../../events/users.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Asked } from '../commit/asked.ts'
import { commit } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { roleIfEnabled } from '../rules/enabled-person.ts'
import { type ChallengeOf, newChallenge, takeChallenge } from './challenges.ts'
import { relyingParty, webauthn } from './relying-party.ts'

/** What a browser needs in order to sign with any passkey that it has for this installation. */
export async function beginProof(deps: Deps, of: ChallengeOf) {
  const { id } = relyingParty(deps)
  const { generateAuthenticationOptions } = await webauthn()
  return generateAuthenticationOptions({
    rpID: id,
    challenge: await newChallenge(deps, of),
    userVerification: 'required',
  })
}

type Known = {
  passkey_id: string
  username: string
  role: 'admin' | 'operator'
  public_key: Buffer
  sign_count: number
  handle: Buffer
}

/** The person of a passkey. `use` records its use in the transaction of their act, and refuses if it is no longer valid. */
export type Proven = Pick<Known, 'username' | 'role' | 'passkey_id'> & {
  use(tx: Transaction): Promise<void>
}

/** `username`: whose passkey it must be, if that is known. */
type Proving = { of: ChallengeOf; username?: string; credential: unknown }

/** The person to whom the passkey belongs that signed the challenge. */
export async function prove(
  deps: Deps,
  asked: Asked,
  { of, username: whose, credential }: Proving,
): Promise<Proven> {
  const response = credential as AuthenticationResponseJSON
  const known = await find(deps, response)
  const isTheirs = whose === undefined || known?.username === whose
  const count = await countOf(deps, of, response, isTheirs ? known : undefined)
  if (known === undefined || count === null) throw refused()
  const { username, role, passkey_id, sign_count } = known
  if (isBehind(count, sign_count)) {
    await commit(deps, asked, userAt(username), {
      decide: (): UserEvent[] => [{ type: 'user.passkey_refused', data: { username, passkey_id } }],
    })
    throw refused()
  }
  return { username, role, passkey_id, use: tx => recordUse(deps, tx, known, count) }
}

async function find(
  { pool }: Deps,
  { id }: AuthenticationResponseJSON,
): Promise<Known | undefined> {
  const { rows } = await pool.query<Omit<Known, 'role'>>(
    `select k.passkey_id, k.username, k.public_key, k.sign_count::float8 as sign_count, h.handle
       from auth.passkey k join auth.passkey_handle h using (username) where k.credential_id = $1`,
    [Buffer.from(id, 'base64url')],
  )
  const [passkey] = rows
  const role = passkey ? await roleIfEnabled(pool, passkey.username) : null
  return passkey && role ? { ...passkey, role } : undefined
}

/** The authenticator's count of signatures; null: its response is not valid. The challenge is spent in any case. */
async function countOf(
  deps: Deps,
  of: ChallengeOf,
  response: AuthenticationResponseJSON,
  known: Known | undefined,
): Promise<number | null> {
  const { id, origin } = relyingParty(deps)
  const isOwners = response.response.userHandle === known?.handle.toString('base64url')
  if (known === undefined || !isOwners) return null
  const { verifyAuthenticationResponse } = await webauthn()
  const result = await verifyAuthenticationResponse({
    response,
    expectedChallenge: challenge => takeChallenge(deps, of, challenge),
    expectedOrigin: origin,
    expectedRPID: id,
    // Counts are compared here, because one that falls behind is recorded.
    credential: { id: response.id, publicKey: new Uint8Array(known.public_key), counter: 0 },
    requireUserVerification: true,
  }).catch((error: unknown) => {
    deps.logger.info({ err: error, username: known.username }, 'a passkey was refused')
    return null
  })
  return result?.verified ? result.authenticationInfo.newCounter : null
}

/** An authenticator that counts never repeats a count: another one has a copy of its key (WebAuthn, 6.1.1). */
const isBehind = (count: number, before: number) => (count > 0 || before > 0) && count <= before

async function recordUse(
  { now }: Deps,
  tx: Transaction,
  { passkey_id, username }: Known,
  count: number,
): Promise<void> {
  const { rowCount } = await tx.query(
    `update auth.passkey set sign_count = $2, last_used_at = $3
      where passkey_id = $1 and (sign_count < $2 or (sign_count = 0 and $2 = 0))`,
    [passkey_id, count, now()],
  )
  if (rowCount === 0 || (await roleIfEnabled(tx, username)) === null) throw refused()
}

/** The same for an unknown passkey, so that nobody learns which exist. */
const refused = () =>
  new Refusal(
    'unauthenticated',
    'This passkey is not registered here, or its response is not valid; sign in with your password',
    { code: 'passkey.refused' },
  )
