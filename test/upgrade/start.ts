import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { createPool } from '../../platform/postgres/pool.ts'
import type { Service } from '../../server/assemble.ts'
import { assembleSampleServer } from '../samples/assemble.ts'
import { sender } from '../samples/send.ts'
import { until } from '../servers/until.ts'
import { type Answers, readEverything } from './answers.ts'
import { restore, type Unpacked } from './fixture.ts'

/** An installation as its fixture left it. */
export type Restored = { databaseUrl: string; dataDir: string; recordedAt: string }

/** Restores a fixture into an empty database and a new folder. */
export async function restored(
  unpacked: Unpacked,
  place: { databaseUrl: string; dataDir: string },
): Promise<Restored> {
  await restore(unpacked, place.databaseUrl)
  await cp(join(unpacked.folder, 'data'), place.dataDir, { recursive: true })
  return { ...place, recordedAt: unpacked.fixture.recordedAt }
}

/** As if so much time had passed since the recording: sessions are valid, and nothing is old enough to be removed. */
function clockAt(recordedAt: string, afterMs: number): () => Date {
  const began = performance.now()
  return () => new Date(Date.parse(recordedAt) + afterMs + performance.now() - began)
}

/** Without `command-api`, which polls engines and fires alerts, nothing changes between reads. */
const readers = 'relay,projector,query-api'

export async function startOn(
  { recordedAt, ...place }: Restored,
  { roles = `command-api,${readers}`, afterMs = 0 } = {},
): Promise<Service> {
  const service = await assembleSampleServer({
    ...place,
    roles,
    now: clockAt(recordedAt, afterMs),
  })
  await continueSessions(place, recordedAt)
  return service
}

/** Continues the sessions that the migration `auth/0810_either_factor` ends, and no others: it may not end more than these. */
async function continueSessions(
  { databaseUrl }: Pick<Restored, 'databaseUrl'>,
  recordedAt: Restored['recordedAt'],
): Promise<void> {
  const pool = createPool(databaseUrl, { max: 1, applicationName: 'forge test' })
  await pool.query(
    `update auth.session set revoked_at = null
      where revoked_at > $1 and via <> 'passkey'
        and username in (select username from auth.passkey)
        and username not in (select username from auth.totp)`,
    [recordedAt],
  )
  await pool.end()
}

/** Starts a server, reads everything, and stops it. */
export async function answersAt(
  place: Restored,
  { samples }: Unpacked['fixture'],
  afterMs = 0,
): Promise<Answers> {
  const { url, routes, stop } = await startOn(place, { roles: readers, afterMs })
  try {
    await caughtUp(place)
    return await readEverything({ ...samples, routes, send: sender(url) })
  } finally {
    await stop()
  }
}

/** A server may have stopped before all of its last events were in the read models. */
async function caughtUp({ databaseUrl }: Restored): Promise<void> {
  const pool = createPool(databaseUrl, { max: 1, applicationName: 'forge test' })
  try {
    await until('everything is in the read models', 30_000, async () => {
      const { rows } = await pool.query<{ is: boolean }>(
        'select (select count(*) from write.event) = (select count(*) from read.applied_event) as is',
      )
      return rows[0]?.is
    })
  } finally {
    await pool.end()
  }
}
