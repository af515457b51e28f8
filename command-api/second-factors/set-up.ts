import type { Context } from 'koa'
import type { Person } from '../../auth/caller.ts'
import { type UserEvent, userAt } from '../../events/users.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { commit } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { revokeSessions } from '../rules/revoke-sessions.ts'
import {
  givenCode,
  newRecoveryCodes,
  newSecret,
  otpauthUrl,
  recoveryHash,
  sealedFor,
  stepOf,
} from './codes.ts'

/** How long the first code of a new authenticator is awaited, in milliseconds. */
const awaitedMs = 15 * 60_000

/** Counts wrong codes of a session like wrong passwords, and holds further attempts back. */
export type CodeGuard = {
  isRight(
    attempt: { username: string; sid: string; ctx: Context },
    verify: () => Promise<'right' | 'wrong'>,
  ): Promise<boolean>
}

/** A new secret for the caller, which signing in does not need before a code of it was confirmed. */
export async function beginTotp(
  deps: Deps,
  username: string,
): Promise<{ secret: string; otpauth_url: string }> {
  const secret = newSecret()
  const sealed = deps.sealing.seal(secret, sealedFor(username))
  const { rowCount } = await deps.pool.query(
    `insert into auth.totp as t (username, sealed, began_at) values ($1, $2, $3)
         on conflict (username) do update set sealed = excluded.sealed, began_at = excluded.began_at
      where t.set_up_at is null`,
    [username, sealed, deps.now()],
  )
  if (rowCount === 0)
    throw new Refusal('conflict', 'You have a second factor; remove it before you set up another')
  const { host } = new URL(deps.baseUrl())
  return { secret, otpauth_url: otpauthUrl({ secret, username, host }) }
}

type Confirming = HttpAsked & { caller: Person; body: { code: string }; ctx: Context }

/** Puts the new authenticator to use, ends the person's other sessions, and returns the recovery codes. */
export async function confirmTotp(
  deps: Deps,
  guard: CodeGuard,
  request: Confirming,
): Promise<{ recovery_codes: string[] }> {
  const { caller, body, ctx } = request
  const { username, sid } = caller
  const begun = await readBegun(deps, username)
  let step: number | null = null
  const isRight = await guard.isRight({ username, sid, ctx }, async () => {
    const given = givenCode(body.code)
    const nowMs = deps.now().getTime()
    step = given?.is === 'totp' ? stepOf(given.code, { secret: begun.secret, nowMs }) : null
    return step === null ? 'wrong' : 'right'
  })
  if (!isRight)
    throw new Refusal(
      'invalid',
      'The code is wrong; enter the one that the authenticator shows now, and check the clock of its device',
      { code: 'second_factor.wrong' },
    )
  const recovery_codes = newRecoveryCodes()
  await commit(deps, request, userAt(username), {
    decide: (): UserEvent[] => [
      { type: 'user.second_factor_set_up', data: { username, method: 'totp' } },
    ],
    async alongside(tx, { now }) {
      const { rowCount } = await tx.query(
        `update auth.totp set set_up_at = $3, last_step = $4
          where username = $1 and sealed = $2 and set_up_at is null`,
        [username, begun.sealed, now, step],
      )
      if (rowCount === 0) throw beginFirst()
      await storeRecoveryCodes(tx, username, recovery_codes)
      // Somebody may have signed in with the password alone.
      await revokeSessions(tx, username, { now, except: sid })
    },
  })
  return { recovery_codes }
}

async function readBegun(
  { pool, now, sealing }: Deps,
  username: string,
): Promise<{ sealed: string; secret: string }> {
  const { rows } = await pool.query<{ sealed: string }>(
    'select sealed from auth.totp where username = $1 and set_up_at is null and began_at > $2',
    [username, new Date(now().getTime() - awaitedMs)],
  )
  const [begun] = rows
  const secret = begun ? await sealing.open(begun.sealed, sealedFor(username)) : null
  if (!begun || secret === null) throw beginFirst()
  return { sealed: begun.sealed, secret }
}

async function storeRecoveryCodes(
  tx: Transaction,
  username: string,
  codes: readonly string[],
): Promise<void> {
  await tx.query(
    'insert into auth.recovery_code (username, code_sha256) select $1, unnest($2::bytea[])',
    [username, codes.map(recoveryHash)],
  )
}

const beginFirst = () =>
  new Refusal(
    'conflict',
    'No authenticator is being set up, or it was begun more than 15 minutes ago; begin again',
  )
