import { randomBytes, randomInt } from 'node:crypto'
import type { Pool } from 'pg'
import { codeLifeS, pollIntervalS, userCodeAlphabet } from '../../auth/device-requests.ts'
import { sha256 } from '../../auth/opaque-token.ts'

export type Asking = { device_id: string; requested_ip: string; user_agent: string; now: Date }
export type DeviceCode = { device_code: string; user_code: string }

/** How long after its end a code's page can still show the outcome. */
const rememberedS = 86_400

/** Stores the hash of a new code of 256 random bits, under an unused user code. */
export async function createDeviceCode(pool: Pool, asking: Asking): Promise<DeviceCode> {
  const device_code = randomBytes(32).toString('base64url')
  const { device_id, requested_ip, user_agent, now } = asking
  const after = (seconds: number) => new Date(now.getTime() + seconds * 1000)
  await pool.query('delete from auth.device_code where expires_at < $1', [after(-rememberedS)])
  for (;;) {
    const user_code = randomUserCode()
    const { rowCount } = await pool.query(
      `insert into auth.device_code
         (device_id, device_sha256, user_code, requested_ip, user_agent, requested_at, expires_at, interval_s)
       values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (user_code) do nothing`,
      [
        device_id,
        sha256(device_code),
        user_code,
        requested_ip,
        user_agent,
        now,
        after(codeLifeS),
        pollIntervalS,
      ],
    )
    if (rowCount === 1) return { device_code, user_code }
  }
}

function randomUserCode(): string {
  const letter = () => userCodeAlphabet[randomInt(userCodeAlphabet.length)]
  const four = () => Array.from({ length: 4 }, letter).join('')
  return `${four()}-${four()}`
}
