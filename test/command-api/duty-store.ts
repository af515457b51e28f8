import type { Pool } from 'pg'
import { pino } from 'pino'
import { type EventStore, postgresEventStore } from '../../command-api/event-store.ts'
import { dutiesFor, type Reactor } from '../../command-api/reactor.ts'
import { decisionEvents } from '../../events/all.ts'
import { eventId } from '../../platform/time.ts'

export const silent = pino({ level: 'silent' })

export const storeWith = (
  pool: Pool,
  reactors: readonly Reactor<null>[],
  dutiesAdded = () => {},
): EventStore =>
  postgresEventStore({
    pool,
    definitions: decisionEvents,
    newEventId: eventId,
    committed: () => {},
    dutiesOf: dutiesFor(reactors),
    dutiesAdded,
  })
