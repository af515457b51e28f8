import type { Pool } from 'pg'
import { executorCommands } from '../../command-api/jobs/executor-commands.ts'
import { executorDepsOn } from './executor-deps.ts'

/** Acts on a server's jobs through its database, as its executor would. */
export const asExecutor = (pool: Pool) =>
  executorCommands(executorDepsOn(pool), { executor: 'local', engine: 'test' })

/** The end of a successful attempt. */
export const endedWell = (at = new Date().toISOString()) => ({
  started_at: at,
  exit: { exit_code: 0, signal: null, oom_killed: false, launch_error: null, ended_at: at },
})
