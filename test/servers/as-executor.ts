import type { Pool } from 'pg'
import { executorCommands } from '../../command-api/jobs/executor-commands.ts'
import { eventStoreOn } from './event-store.ts'

/** Acts on a server's jobs through its database, as its executor would. */
export function asExecutor(pool: Pool) {
  const store = eventStoreOn(pool)
  const deps = {
    store,
    pool,
    now: () => new Date(),
    baseUrl: () => 'http://127.0.0.1:9',
  }
  return executorCommands(deps, { executor: 'local', engine: 'test' })
}

/** The end of a successful attempt. */
export const endedWell = (at = new Date().toISOString()) => ({
  started_at: at,
  exit: { exit_code: 0, signal: null, oom_killed: false, launch_error: null, ended_at: at },
})
