import type { Context } from 'koa'
import type { Person } from '../../auth/caller.ts'
import { type UserEvent, userAt } from '../../events/users.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { newRecoveryCodes, replaceRecoveryCodes } from '../rules/recovery-codes.ts'
import { revokeSessions } from '../rules/revoke-sessions.ts'
import { givenCode, newSecret, otpauthUrl, sealedFor, stepOf } from './codes.ts'

/** How long the first code of a new authenticator is awaited, in milliseconds. */
const awaitedMs = 15 * 60_000

/** Counts wrong codes of a session like wrong passwords, and holds further attempts back. */
export type CodeGuard = {
  isRight(
    attempt: { username: string; sid: string; ctx: Context },
    verify: () => Promise<'right' | 'wrong'>,
  ): Promise<boolean>
}

/** A new secret for the caller. Until a code of it is confirmed, an earlier authenticator stays valid. */
export async function beginTotp(
  deps: Deps,
  username: string,
): Promise<{ secret: string; otpauth_url: string }> {
  const secret = newSecret()
  const sealed = deps.sealing.seal(secret, sealedFor(username))
  await deps.pool.query(
    `insert into auth.totp_begun (username, sealed, began_at) values ($1, $2, $3)
         on conflict (username) do update set sealed = excluded.sealed, began_at = excluded.began_at`,
    [username, sealed, deps.now()],
  )
  const { host } = new URL(deps.baseUrl())
  return { secret, otpauth_url: otpauthUrl({ secret, username, host }) }
}

type Confirming = HttpAsked & { caller: Person; body: { code: string }; ctx: Context }

/**
 * Puts the new authenticator to use in place of an earlier one, ends the person's other sessions, and returns new recovery codes;
 * earlier ones are no longer valid.
 */
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
        'delete from auth.totp_begun where username = $1 and sealed = $2',
        [username, begun.sealed],
      )
      if (rowCount === 0) throw beginFirst()
      await tx.query(
        `insert into auth.totp (username, sealed, set_up_at, last_step) values ($1, $2, $3, $4)
             on conflict (username) do update
            set (sealed, set_up_at, last_step, wrong_codes) = (excluded.sealed, $3, $4, 0)`,
        [username, begun.sealed, now, step],
      )
      await replaceRecoveryCodes(tx, username, recovery_codes)
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
    'select sealed from auth.totp_begun where username = $1 and began_at > $2',
    [username, new Date(now().getTime() - awaitedMs)],
  )
  const [begun] = rows
  const secret = begun ? await sealing.open(begun.sealed, sealedFor(username)) : null
  if (!begun || secret === null) throw beginFirst()
  return { sealed: begun.sealed, secret }
}

const beginFirst = () =>
  new Refusal(
    'conflict',
    'No authenticator is being set up, or it was begun more than 15 minutes ago; begin again',
  )
