import { randomBytes, randomInt } from 'node:crypto'
import type { Pool } from 'pg'
import { codeLifeS, pollIntervalS, userCodeAlphabet } from '../../auth/device-requests.ts'
import { sha256 } from '../../auth/opaque-token.ts'

export type Asking = {
  device_id: string
  requested_ip: string
  /** The unit of limits that the address belongs to. */
  network: string
  user_agent: string
  now: Date
}
export type DeviceCode = { device_code: string; user_code: string }

/** How many codes may wait for a decision, in all and for one network. */
const maxPending = 1000
const maxPendingOfNetwork = 20

/**
 * Stores the hash of a new code of 256 random bits, under an unused user code. Beyond the limits on waiting codes, the oldest one ends.
 */
export async function createDeviceCode(pool: Pool, asking: Asking): Promise<DeviceCode> {
  const device_code = randomBytes(32).toString('base64url')
  const { device_id, requested_ip, network, user_agent, now } = asking
  const after = (seconds: number) => new Date(now.getTime() + seconds * 1000)
  for (;;) {
    const user_code = randomUserCode()
    const { rowCount } = await pool.query(
      `insert into auth.device_code
         (device_id, device_sha256, user_code, requested_ip, user_agent, requested_at, expires_at, interval_s, network)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (user_code) do nothing`,
      [
        device_id,
        sha256(device_code),
        user_code,
        requested_ip,
        user_agent,
        now,
        after(codeLifeS),
        pollIntervalS,
        network,
      ],
    )
    if (rowCount === 0) continue
    await endOldest(pool, network)
    return { device_code, user_code }
  }
}

/** Locks rows in one order, because requests at the same time may want to delete the same ones. */
async function endOldest(pool: Pool, network: string): Promise<void> {
  await pool.query({
    name: 'end_oldest_device_codes',
    text: `with surplus as (
             (select device_id from auth.device_code where state = 'pending' and network = $1
               order by requested_at desc, device_id desc offset $2)
             union
             (select device_id from auth.device_code where state = 'pending'
               order by requested_at desc, device_id desc offset $3)),
           locked as materialized (
             select device_id from auth.device_code where device_id in (select device_id from surplus)
              order by device_id for update)
           delete from auth.device_code where device_id in (select device_id from locked)`,
    values: [network, maxPendingOfNetwork, maxPending],
  })
}

function randomUserCode(): string {
  const letter = () => userCodeAlphabet[randomInt(userCodeAlphabet.length)]
  const four = () => Array.from({ length: 4 }, letter).join('')
  return `${four()}-${four()}`
}
