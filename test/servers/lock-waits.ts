import type { ClientBase, Pool } from 'pg'
import { until } from './until.ts'

/** A lock that a session of one database holds or waits for. */
export type SessionLock = {
  pid: number
  locktype: string
  /** With its schema if that is not on the search path; null unless it is a table lock. */
  relation: string | null
  mode: string
  granted: boolean
  application: string
  /** The current or last statement of its session. */
  query: string
}

/**
 * Locks of all sessions in the database of `on`. Tests share one server, whose catalogues show the sessions of every
 * database, and tables of databases created from one template have the same oid: a query with fewer conditions sees the
 * locks of other tests.
 */
export async function sessionLocks(on: Pool | ClientBase): Promise<SessionLock[]> {
  const { rows } = await on.query<SessionLock>(
    `select pid, locktype, relation::regclass::text as relation, mode, granted, application_name as application, query
       from pg_locks join pg_stat_activity using (pid) where datname = current_database()`,
  )
  return rows
}

/** Resolves once a session of this database waits for a lock that matches `isMeant`. */
export const untilLockWaits = (
  on: Pool | ClientBase,
  what: string,
  isMeant: (lock: SessionLock) => boolean = () => true,
) =>
  until(what, 50_000, async () =>
    (await sessionLocks(on)).find(lock => !lock.granted && isMeant(lock)),
  )

/**
 * For a transaction that a test holds open while it waits for something else: PostgreSQL ends those of our pools that are idle for a
 * minute, and with them the locks that the test relies on.
 */
export const mayStayIdle = (tx: ClientBase) =>
  tx.query('set local idle_in_transaction_session_timeout = 0')

/** Ends the sessions of this database with that name, like a server restart. */
export const endSessions = (on: Pool | ClientBase, application: string) =>
  on.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = $1`,
    [application],
  )
