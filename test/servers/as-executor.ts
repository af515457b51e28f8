import type { Pool } from 'pg'
import { postgresEventStore } from '../../command-api/event-store.ts'
import { executorCommands } from '../../command-api/jobs/executor-commands.ts'
import { recentWrites } from '../../command-api/recent-writes.ts'
import { decisionEvents } from '../../events/all.ts'
import { eventId } from '../../platform/time.ts'

/** Acts on the jobs of a server, by its database, as its executor would. */
export function asExecutor(pool: Pool) {
  const store = postgresEventStore({
    pool,
    definitions: decisionEvents,
    newEventId: eventId,
    committed: () => {},
  })
  const deps = {
    store,
    pool,
    now: () => new Date(),
    recentWrites: recentWrites(),
    baseUrl: () => 'http://127.0.0.1:9',
  }
  return executorCommands(deps, 'local')
}

/** How an attempt ends that ran and went well. */
export const endedWell = () => ({
  startedAt: new Date(),
  endedAt: new Date(),
  exitCode: 0,
  signal: null,
  oomKilled: false,
  launchError: null,
})
