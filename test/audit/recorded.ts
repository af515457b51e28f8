import type { ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { pino } from 'pino'
import type { EventStore, Stamp } from '../../command-api/commit/event-store.ts'
import { type Relay, startRelay } from '../../command-api/relay/relay.ts'
import { createMemoryLog } from '../../platform/log/memory.ts'
import { eventStoreOn } from '../servers/event-store.ts'
import { database } from '../servers/postgres.ts'
import { until } from '../servers/until.ts'

export type Recorded = {
  pool: Pool
  store: EventStore
  stamp: Stamp
  /** Records sign-ins of these people, one transaction each. */
  signIn(...people: string[]): Promise<void>
  /** Resolves once all committed events are published and linked. */
  linked(): Promise<void>
  stopRelay(): Promise<void>
  startRelay(): void
}

const topic = 'test.decisions'

/** The write side on its own database, with a relay that adds events to the chain. */
export async function recorded(t: ExecutionContext): Promise<Recorded> {
  const { pool } = await database(t)
  const log = createMemoryLog([{ name: topic, partitions: 1, retentionDays: null }])
  const stamp: Stamp = {
    actor: { type: 'user', id: 'ada', via: 'test' },
    requestId: 'test',
    now: new Date('2026-11-20T19:26:53.123Z'),
  }
  const store = eventStoreOn(pool, { committed: () => running.wake() })
  const start = () =>
    startRelay({ pool, log, topic, logger: pino({ level: 'silent' }), batchSize: 7 })
  let running: Relay = start()
  t.teardown(() => running.stop())
  return {
    pool,
    store,
    stamp,
    stopRelay: () => running.stop(),
    startRelay() {
      running = start()
    },
    async signIn(...people) {
      for (const person of people)
        await store.transaction(async tx => {
          const stream = `user-${person}`
          const { version } = await store.load(stream, tx)
          const login = { type: 'user.login', data: { username: person, sid: 's', via: 'test' } }
          await store.append(tx, { stream, expectedVersion: version, events: [login], stamp })
        })
    },
    linked: () =>
      until('everything is linked', 15_000, async () => {
        const { rows } = await pool.query(
          `select (select count(*) from write.event) = (select link from write.audit_head) as done`,
        )
        return rows[0]?.done === true
      }).then(() => {}),
  }
}

/** Changes recorded events like a person with all privileges on the database. */
export async function tamper(pool: Pool, ...statements: string[]): Promise<void> {
  const client = await pool.connect()
  try {
    // Triggers do not fire for a replica; the owner of the database can disable them this way.
    await client.query(`set session_replication_role = 'replica'`)
    for (const statement of statements) await client.query(statement)
    await client.query('reset session_replication_role')
  } finally {
    client.release()
  }
}
