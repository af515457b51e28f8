import type { Pool } from 'pg'
import {
  type EventStore,
  type EventStoreDeps,
  postgresEventStore,
} from '../../command-api/commit/event-store.ts'
import { kinds } from '../../command-api/compose.ts'
import { decisionEvents } from '../../events/all.ts'
import { eventId } from '../../platform/time.ts'

/** The event store of a server; `own` replaces some of its parts for a test. */
export const eventStoreOn = (pool: Pool, own: Partial<EventStoreDeps> = {}): EventStore =>
  postgresEventStore({
    pool,
    definitions: decisionEvents,
    newEventId: eventId,
    kinds,
    committed: () => {},
    ...own,
  })
