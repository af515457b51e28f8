import { createHmac } from 'node:crypto'
import type { Context } from 'koa'
import type { Pool } from 'pg'
import { sha256 } from '../../auth/opaque-token.ts'
import type { Passwords } from '../../auth/passwords.ts'
import type { Clock } from '../../platform/time.ts'
import { createHeldAttempts, maxDelayS, tooMany } from './held-attempts.ts'
import { networkOf } from './known-networks.ts'

/** `unknown`: there is no such account. Callers must not be able to distinguish it from `wrong`. */
export type Verdict = 'right' | 'wrong' | 'unknown'

export type Attempt = {
  username: string
  ctx: Context
  /** The session that gives its current password in order to change it. */
  sid?: string
}

/**
 * Slows down guessing, for all processes together: from the fifth failure of an account within 15 minutes on, its
 * next attempts are held for 1 s, 2 s, 4 s and so on up to a minute. Right passwords are held like wrong ones, and
 * unknown names like known ones, or the delay would reveal which is which.
 *
 * To keep strangers from locking a person out that way, attempts from each network where this person has signed in before are
 * counted separately, as are those of a session that changes its password.
 */
export type PasswordGuard = {
  /** True if `verify` finds the password right. Failures are counted for `user.login_failed`. */
  isRight(attempt: Attempt, verify: () => Promise<Verdict>): Promise<boolean>
  /** Refuses the held attempts. */
  close(): Promise<void>
}

export type SignInPorts = {
  passwords: Passwords
  passwordGuard: PasswordGuard
}

const freeFailures = 5
const windowMs = 15 * 60_000

export function createPasswordGuard({ pool, now }: { pool: Pool; now: Clock }): PasswordGuard {
  const attempts = createHeldAttempts()
  return {
    async isRight(attempt, verify) {
      // Counted as a failure before it is tried, so that concurrent attempts count too.
      const { key, waitMs } = await countAttempt(pool, attempt, now())
      if (waitMs > 0) await attempts.hold(waitMs, attempt.ctx)
      const verdict = await verify().catch(async error => {
        await takeBack(pool, key)
        throw error
      })
      if (verdict === 'right') await takeBack(pool, key)
      else await countFailure(pool, { ...attempt, verdict, now: now() })
      return verdict === 'right'
    },
    async close() {
      attempts.close()
    },
  }
}

type Counted = { key: Buffer; waitMs: number }

/** Returns how long this attempt has to wait, in milliseconds. Refuses it if that is more than a minute. */
async function countAttempt(pool: Pool, attempt: Attempt, now: Date): Promise<Counted> {
  const { username, sid, ctx } = attempt
  const network = networkOf(ctx)
  const began = new Date(now.getTime() - windowMs)
  const { rows } = await pool.query<{ key: Buffer; next_at: Date }>({
    name: 'count_sign_in_attempt',
    text: `insert into auth.sign_in_delay as d (account_sha256, began_at, failures, next_at)
           select case when exists (select from auth.sign_in_network where username = $4 and network = $5)
                       then $6::bytea else $1::bytea end, $2::timestamptz, 1, $2
               on conflict (account_sha256) do update
              set began_at = case when d.began_at > $3 then d.began_at else $2 end,
                  failures = case when d.began_at > $3 then d.failures + 1 else 1 end,
                  next_at = ${nextAt}
            where ${nextAt} <= $2 + make_interval(secs => ${maxDelayS})
        returning account_sha256 as key, next_at`,
    values: [
      sid === undefined ? sha256(username) : keyOf('session', sid),
      now,
      began,
      sid === undefined ? username : null,
      network,
      keyOf('network', username, network),
    ],
  })
  const [counted] = rows
  if (!counted) throw tooMany('as this user at once')
  return { key: counted.key, waitMs: counted.next_at.getTime() - now.getTime() }
}

/** Differs from the hash of every name that somebody could make up. */
const keyOf = (kind: 'session' | 'network', ...parts: string[]): Buffer =>
  createHmac('sha256', kind).update(JSON.stringify(parts)).digest()

/** When the next attempt may be answered: each one after the previous one, with a growing pause. */
const nextAt = `case when d.began_at > $3 and d.failures >= ${freeFailures}
                     then greatest($2, d.next_at) + make_interval(
                       secs => least(${maxDelayS}, 2 ^ least(d.failures - ${freeFailures}, 10)))
                     else $2 end`

async function takeBack(pool: Pool, key: Buffer): Promise<void> {
  await pool.query(
    'update auth.sign_in_delay set failures = greatest(failures - 1, 0) where account_sha256 = $1',
    [key],
  )
}

type Failure = Attempt & { verdict: Verdict; now: Date }

/** Unknown names only count under the address: a mistyped name may be a password. */
async function countFailure(pool: Pool, { username, ctx, verdict, now }: Failure): Promise<void> {
  const isAccount = verdict === 'wrong'
  await pool.query({
    name: 'count_failed_login',
    text: `insert into auth.failed_login as f (minute, is_account, subject, count)
           values (date_trunc('minute', $1::timestamptz), $2, $3, 1)
               on conflict (minute, is_account, subject) do update set count = f.count + 1`,
    values: [now, isAccount, isAccount ? username : networkOf(ctx)],
  })
}
