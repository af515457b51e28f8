import type { Context } from 'koa'
import type { Pool } from 'pg'
import { sha256 } from '../../auth/opaque-token.ts'
import type { Passwords } from '../../auth/passwords.ts'
import { clientAddress, clientNetwork } from '../../platform/http/client-address.ts'
import { pause } from '../../platform/pause.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Clock } from '../../platform/time.ts'

/** `unknown`: there is no such account. Callers must not be able to tell it from `wrong`. */
export type Verdict = 'right' | 'wrong' | 'unknown'

export type Attempt = { username: string; ctx: Context }

/**
 * Slows down guessing, for all processes together: from the fifth failure of an account within 15 minutes on, its
 * next attempts are held for 1 s, 2 s, 4 s and so on up to a minute. Right passwords are held like wrong ones, and
 * unknown names like known ones, or the delay would tell them apart.
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
const maxDelayS = 60
/** How many attempts a process holds at once. */
const maxHeld = 256

export function createPasswordGuard({ pool, now }: { pool: Pool; now: Clock }): PasswordGuard {
  const closing = new AbortController()
  let held = 0
  const hold = async (ms: number, ctx: Context) => {
    if (held >= maxHeld) throw tooMany(maxDelayS)
    held++
    try {
      const connection = new AbortController()
      ctx.res.once('close', () => connection.abort())
      await pause(ms, AbortSignal.any([connection.signal, closing.signal]))
      if (connection.signal.aborted || closing.signal.aborted) throw interrupted()
    } finally {
      held--
    }
  }
  return {
    async isRight({ username, ctx }, verify) {
      const account = sha256(username)
      // Counted as a failure before it is tried, so that attempts at the same time count too.
      const waitMs = await countAttempt(pool, account, now())
      if (waitMs > 0) await hold(waitMs, ctx)
      const verdict = await verify().catch(async error => {
        await takeBack(pool, account)
        throw error
      })
      if (verdict === 'right') await takeBack(pool, account)
      else await countFailure(pool, { username, ctx, verdict, now: now() })
      return verdict === 'right'
    },
    async close() {
      closing.abort()
    },
  }
}

/** Returns how long this attempt has to wait, in milliseconds. Refuses it if that is more than a minute. */
async function countAttempt(pool: Pool, account: Buffer, now: Date): Promise<number> {
  const began = new Date(now.getTime() - windowMs)
  const { rows } = await pool.query<{ next_at: Date }>({
    name: 'count_sign_in_attempt',
    text: `insert into auth.sign_in_delay as d (account_sha256, began_at, failures, next_at)
           values ($1, $2, 1, $2)
               on conflict (account_sha256) do update
              set began_at = case when d.began_at > $3 then d.began_at else $2 end,
                  failures = case when d.began_at > $3 then d.failures + 1 else 1 end,
                  next_at = ${nextAt}
            where ${nextAt} <= $2 + make_interval(secs => ${maxDelayS})
        returning next_at`,
    values: [account, now, began],
  })
  if (rows[0]) return rows[0].next_at.getTime() - now.getTime()
  throw tooMany(maxDelayS)
}

/** When the next attempt may be answered: each of them after the one before it, and later each time. */
const nextAt = `case when d.began_at > $3 and d.failures >= ${freeFailures}
                     then greatest($2, d.next_at) + make_interval(
                       secs => least(${maxDelayS}, 2 ^ least(d.failures - ${freeFailures}, 10)))
                     else $2 end`

async function takeBack(pool: Pool, account: Buffer): Promise<void> {
  await pool.query(
    'update auth.sign_in_delay set failures = greatest(failures - 1, 0) where account_sha256 = $1',
    [account],
  )
}

type Failure = Attempt & { verdict: Verdict; now: Date }

/** Unknown names count under the address alone: a mistyped name may be a password. */
async function countFailure(pool: Pool, { username, ctx, verdict, now }: Failure): Promise<void> {
  const isAccount = verdict === 'wrong'
  await pool.query({
    name: 'count_failed_login',
    text: `insert into auth.failed_login as f (minute, is_account, subject, count)
           values (date_trunc('minute', $1::timestamptz), $2, $3, 1)
               on conflict (minute, is_account, subject) do update set count = f.count + 1`,
    values: [now, isAccount, isAccount ? username : clientNetwork(clientAddress(ctx))],
  })
}

const tooMany = (retryAfterSeconds: number) =>
  new Refusal('rate_limited', 'Too many sign-ins as this user at once; try again in a minute', {
    code: 'login.delayed',
    retryAfterSeconds,
  })

const interrupted = () =>
  new Refusal('unavailable', 'The sign-in was interrupted; try again', { retryAfterSeconds: 2 })
