import { randomBytes } from 'node:crypto'
import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import type { Person } from '../../auth/caller.ts'
import { type UserEvent, userAt } from '../../events/users.ts'
import { Refusal } from '../../platform/refusal.ts'
import { maxPasskeys } from '../../schemas/passkeys.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { commit } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { recoveryCodesFor } from '../rules/recovery-codes.ts'
import { revokeSessions } from '../rules/revoke-sessions.ts'
import { hasSecondFactor } from '../rules/second-factors.ts'
import { newChallenge, takeChallenge } from './challenges.ts'
import { relyingParty, webauthn } from './relying-party.ts'

/** EdDSA, ES256 and RS256: every authenticator has one of them. */
const supportedAlgorithmIDs = [-8, -7, -257]

/** What a browser needs in order to make a passkey of the caller. */
export async function beginRegistration(deps: Deps, { username, sid }: Person) {
  const { id } = relyingParty(deps)
  const { rows: known } = await deps.pool.query<{ credential_id: Buffer }>(
    'select credential_id from auth.passkey where username = $1',
    [username],
  )
  const { generateRegistrationOptions } = await webauthn()
  return generateRegistrationOptions({
    rpName: 'Forge',
    rpID: id,
    userName: username,
    userID: new Uint8Array(await handleOf(deps, username)),
    challenge: await newChallenge(deps, { sid, username: null }),
    attestationType: 'none',
    supportedAlgorithmIDs,
    // One authenticator makes one passkey of a person.
    excludeCredentials: known.map(({ credential_id }) => ({
      id: credential_id.toString('base64url'),
    })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
}

async function handleOf({ pool }: Deps, username: string): Promise<Buffer> {
  const { rows } = await pool.query<{ handle: Buffer }>(
    `insert into auth.passkey_handle as h (username, handle) values ($1, $2)
         on conflict (username) do update set handle = h.handle returning handle`,
    [username, randomBytes(32)],
  )
  const [row] = rows
  if (!row) throw new Error(`${username} got no handle`)
  return row.handle
}

type Registering = HttpAsked & {
  caller: Person
  body: { name: string; credential: unknown }
}

/**
 * Keeps the public key of a new passkey. The first second factor ends the person's other sessions, because somebody may have signed in
 * with the password alone.
 */
export async function register(deps: Deps, request: Registering) {
  const { username, sid } = request.caller
  const { name, credential } = request.body
  const made = await verified(deps, sid, credential as RegistrationResponseJSON)
  const passkey_id = deps.newId('pk')
  let recovery_codes: string[] = []
  const { now } = await commit(deps, request, userAt(username), {
    decide: (): UserEvent[] => [
      { type: 'user.passkey_registered', data: { username, passkey_id, name } },
    ],
    async alongside(tx, { now }) {
      await refuseTooMany(tx, username)
      const isFirst = !(await hasSecondFactor(tx, username))
      const { rowCount } = await tx.query(
        `insert into auth.passkey
           (passkey_id, credential_id, username, public_key, sign_count, name, created_at)
         values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
        [
          passkey_id,
          Buffer.from(made.id, 'base64url'),
          username,
          Buffer.from(made.publicKey),
          made.counter,
          name,
          now,
        ],
      )
      if (rowCount === 0) throw new Refusal('conflict', 'This passkey is registered already')
      recovery_codes = await recoveryCodesFor(tx, username)
      if (isFirst) await revokeSessions(tx, username, { now, except: sid })
    },
  })
  return { passkey_id, name, created_at: toTimestamp(now), last_used_at: null, recovery_codes }
}

async function refuseTooMany(tx: Transaction, username: string): Promise<void> {
  const { rows } = await tx.query<{ count: number }>(
    'select count(*)::int as count from auth.passkey where username = $1',
    [username],
  )
  if ((rows[0]?.count ?? 0) >= maxPasskeys)
    throw new Refusal('conflict', `You have ${maxPasskeys} passkeys; remove one first`)
}

async function verified(deps: Deps, sid: string, response: RegistrationResponseJSON) {
  const { id, origin } = relyingParty(deps)
  const { verifyRegistrationResponse } = await webauthn()
  const result = await verifyRegistrationResponse({
    response,
    expectedChallenge: challenge => takeChallenge(deps, { sid, username: null }, challenge),
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: true,
    supportedAlgorithmIDs,
  }).catch((error: unknown) => {
    deps.logger.info({ err: error }, 'a passkey was not registered')
    return null
  })
  if (!result?.verified)
    throw new Refusal('invalid', 'The browser’s response is not valid or too old; begin again', {
      code: 'passkey.refused',
    })
  return result.registrationInfo.credential
}
