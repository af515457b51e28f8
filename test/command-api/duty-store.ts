import type { Pool } from 'pg'
import { pino } from 'pino'
import type { EventStore } from '../../command-api/commit/event-store.ts'
import { dutiesFor, type Reactor } from '../../command-api/effects/reactor.ts'
import { eventStoreOn } from '../servers/event-store.ts'

export const silent = pino({ level: 'silent' })

export const storeWith = (
  pool: Pool,
  reactors: readonly Reactor<null>[],
  dutiesAdded = () => {},
): EventStore => eventStoreOn(pool, { dutiesOf: dutiesFor(reactors), dutiesAdded })
