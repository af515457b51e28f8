import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { repeat } from '../platform/repeat.ts'
import { toTimestamp } from '../schemas/timestamp.ts'

/** How old what a process knows of the switch may get, in milliseconds; a signal makes it know at once. */
const pollMs = 400

/** What is told to whoever is turned away; the last message while nobody is. */
export type MaintenanceSwitch = {
  enabled: boolean
  message: string | null
  changed_at: string | null
  changed_by: string | null
}

export type MaintenanceWatch = {
  current(): MaintenanceSwitch
  /** Reads the switch anew; whoever changed it calls this, and the signal of another process does. */
  refresh(): Promise<void>
  stop(): Promise<void>
}

export type MaintenanceDeps = {
  pool: Pool
  logger: Logger
  /** Called when this process begins to turn people away. */
  onBegin: () => void
}

/**
 * Knows whether the installation is in maintenance, from the first request on. While Postgres is away
 * what was known last holds.
 */
export async function watchMaintenance(deps: MaintenanceDeps): Promise<MaintenanceWatch> {
  const { pool, logger, onBegin } = deps
  let known = await readMaintenance(pool)
  let [asked, answered] = [0, 0]
  const refresh = async () => {
    const turn = ++asked
    const found = await readMaintenance(pool)
    // One that was asked later knows better.
    if (turn < answered) return
    answered = turn
    const before = known
    known = found
    if (found.enabled === before.enabled) return
    logger.warn({ enabled: found.enabled, by: found.changed_by }, 'maintenance was switched')
    if (found.enabled) onBegin()
  }
  const look = async () => {
    await refresh()
    return pollMs
  }
  const watching = repeat(look, {
    firstAfterMs: pollMs,
    retryMs: { first: pollMs, most: pollMs },
    failed: error => logger.debug({ err: error }, 'the maintenance switch could not be read'),
  })
  return { current: () => known, refresh, stop: watching.stop }
}

/** The switch as it stands in Postgres. */
export async function readMaintenance(pool: Pool): Promise<MaintenanceSwitch> {
  const { rows } = await pool.query({
    name: 'maintenance',
    text: 'select enabled, message, changed_at, changed_by from auth.maintenance',
  })
  const { enabled, message, changed_at, changed_by } = rows[0]
  return { enabled, message, changed_at: changed_at && toTimestamp(changed_at), changed_by }
}
