import type { ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import type { EventStore } from '../../command-api/commit/event-store.ts'
import { type DutiesDeps, startDuties } from '../../command-api/duties/runner.ts'
import { nothing, type Outcome } from '../../command-api/effects/outcome.ts'
import { type LeasedDuty, type Reactor, reactor } from '../../command-api/effects/reactor.ts'
import { database } from '../servers/postgres.ts'
import { silent, storeWith } from './duty-store.ts'

/** The payload of these tests' duties: the session of a sign-in. */
export type SessionPayload = { sid: string }

export type Perform = (duty: LeasedDuty<SessionPayload>, signal: AbortSignal) => Promise<Outcome>

/** A reactor to each `user.login`, due `Number(via)` milliseconds after the event. */
export const loginReactor = (
  perform: Perform,
  settings: Partial<Reactor<null>> = {},
): Reactor<null> => ({
  ...reactor<SessionPayload, null>({
    name: 'login',
    repeat: 'by key',
    dutiesOf: event =>
      event.type === 'user.login'
        ? [
            {
              payload: { sid: event.data.sid },
              due_at: new Date(Date.parse(event.occurred_at) + Number(event.data.via)),
            },
          ]
        : [],
    perform: (duty, _, signal) => perform(duty, signal),
  }),
  ...settings,
})

export const noticing =
  (seen: string[]): Perform =>
  async ({ payload }) => {
    seen.push(payload.sid)
    return nothing
  }

/** Sign-ins of one user, appended in one transaction; `dueMs` after `at`. */
export async function logIns(
  store: EventStore,
  sids: readonly string[],
  { at = new Date(0), username = 'alice', dueMs = (_: number): number => 0 } = {},
): Promise<void> {
  const stream = `user-${username}`
  await store.transaction(async tx => {
    const { version } = await store.load(stream, tx)
    await store.append(tx, {
      stream,
      expectedVersion: version,
      events: sids.map((sid, index) => ({
        type: 'user.login',
        data: { username, sid, via: String(dueMs(index)) },
      })),
      stamp: { actor: { type: 'system', id: 'test', via: 'test' }, requestId: 'req_1', now: at },
    })
  })
}

/** A database, a clock that only the test moves, and runners that end with the test. */
export async function dutyRunners(t: ExecutionContext, given?: { pool: Pool; url: string }) {
  const { pool, url } = given ?? (await database(t))
  const clock = { now: new Date('2026-11-20T12:00:00Z') }
  return {
    pool,
    url,
    clock,
    pass: (ms: number) => {
      clock.now = new Date(clock.now.getTime() + ms)
    },
    run(reactors: readonly Reactor<null>[], settings: Partial<DutiesDeps<null>> = {}) {
      const store = storeWith(pool, reactors, () => runner.wake())
      const runner = startDuties<null>({
        pool,
        store,
        reactors,
        work: null,
        now: () => clock.now,
        random: () => 0.5,
        logger: silent,
        pollMs: 20,
        ...settings,
      })
      t.teardown(() => runner.stop())
      return { store, runner }
    },
    async rows() {
      const { rows } = await pool.query(
        `select duty_id, reactor, payload->>'sid' as sid, due_at, attempts, leased_until, last_error, done_at, parked_at
           from write.duty order by due_at, duty_id`,
      )
      return rows
    },
  }
}
