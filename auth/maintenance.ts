import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { repeat } from '../platform/repeat.ts'
import { toTimestamp } from '../schemas/timestamp.ts'

/** Maximum age of a process's view of the switch, in milliseconds; signals update it at once. */
const pollMs = 400

/** The message sent with each 503; outside maintenance, the last one. */
export type MaintenanceSwitch = {
  enabled: boolean
  message: string | null
  changed_at: string | null
  changed_by: string | null
}

export type MaintenanceWatch = {
  current(): MaintenanceSwitch
  /** Reads the switch again; called after a change here, and on the signal of another process. */
  refresh(): Promise<void>
  stop(): Promise<void>
}

export type MaintenanceDeps = {
  pool: Pool
  logger: Logger
  /** Called when this process enters maintenance. */
  onBegin: () => void
}

/**
 * Tracks whether the installation is in maintenance, from the first request on. While Postgres is down, the last
 * known state applies.
 */
export async function watchMaintenance(deps: MaintenanceDeps): Promise<MaintenanceWatch> {
  const { pool, logger, onBegin } = deps
  let known = await readMaintenance(pool)
  let [asked, answered] = [0, 0]
  const refresh = async () => {
    const turn = ++asked
    const found = await readMaintenance(pool)
    // Ignore a read that a newer one has overtaken.
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

/** Reads the switch from Postgres. */
export async function readMaintenance(pool: Pool): Promise<MaintenanceSwitch> {
  const { rows } = await pool.query({
    name: 'maintenance',
    text: 'select enabled, message, changed_at, changed_by from auth.maintenance',
  })
  const { enabled, message, changed_at, changed_by } = rows[0]
  return { enabled, message, changed_at: changed_at && toTimestamp(changed_at), changed_by }
}
