import type { Pool } from 'pg'
import { Refusal } from '../platform/refusal.ts'

/** Lifetime of a code, and the poll interval, in seconds. */
export const codeLifeS = 900
export const pollIntervalS = 5

export type DeviceRequestRow = {
  device_id: string
  user_code: string
  requested_ip: string
  user_agent: string
  requested_at: Date
  expires_at: Date
  state: 'pending' | 'approved' | 'denied' | 'consumed' | 'expired'
}

/** RFC 8628, 6.1: no vowels, so that codes are not words, and no characters that look alike. */
export const userCodeAlphabet = 'BCDFGHJKLMNPQRSTVWXZ'

const guessesAMinute = 5

/**
 * The request for a user code that a person typed; 404 if there is none. After five wrong codes within a minute,
 * every further code is refused for the rest of it, right or wrong.
 */
export async function findDeviceRequest(
  pool: Pool,
  { username, now }: { username: string; now: Date },
  typed: string,
): Promise<DeviceRequestRow> {
  // Counted before the lookup and refunded after a right code, so that concurrent guesses count too.
  await countGuess(pool, username, now)
  const { rows } = await pool.query<DeviceRequestRow>({
    name: 'device_request_by_user_code',
    text: `select device_id, user_code, requested_ip, user_agent, requested_at, expires_at,
                  case when state in ('pending', 'approved') and expires_at <= $2 then 'expired'
                       else state end as state
             from auth.device_code where user_code = $1`,
    values: [normalUserCode(typed), now],
  })
  const [found] = rows
  if (!found) throw new Refusal('not_found', `No such code: ${typed}`)
  await pool.query('update auth.device_guess set guesses = guesses - 1 where username = $1', [
    username,
  ])
  return found
}

async function countGuess(pool: Pool, username: string, now: Date): Promise<void> {
  const { rows } = await pool.query<{ began_at: Date; guesses: number }>({
    name: 'count_device_guess',
    text: `insert into auth.device_guess as g (username, began_at, guesses) values ($1, $2, 1)
           on conflict (username) do update set
             guesses = case when g.began_at > $2 - interval '1 minute' then least(g.guesses + 1, $3 + 1) else 1 end,
             began_at = case when g.began_at > $2 - interval '1 minute' then g.began_at else $2 end
           returning began_at, guesses`,
    values: [username, now, guessesAMinute],
  })
  const [count] = rows
  if (!count || count.guesses <= guessesAMinute) return
  const leftMs = count.began_at.getTime() + 60_000 - now.getTime()
  throw new Refusal('rate_limited', 'Too many wrong codes; wait a minute and check the code', {
    code: 'device.too_many_guesses',
    retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1000)),
  })
}

/** `bcdf ghjk` → `BCDF-GHJK`. */
function normalUserCode(typed: string): string {
  const letters = typed.toUpperCase().replace(/[^A-Z]/g, '')
  return `${letters.slice(0, 4)}-${letters.slice(4)}`
}
