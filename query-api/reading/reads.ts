import { Kysely, PostgresDialect } from 'kysely'
import type { Pool } from 'pg'
import type { Person } from '../../auth/caller.ts'
import { createGuard, type Scope } from '../../platform/postgres/guard.ts'

/** Reads of the read models, each on a person's behalf (docs/adr/0009-row-level-security.md). */
export type Reads<T> = {
  /**
   * Only rows that this person may read; all rows for admins. Row-level policies hide the rest, whatever the query
   * selects. `runIds` names the runs to be read, so that access is decided once per run, not per row.
   */
  as(caller: Pick<Person, 'username' | 'role'>, runIds?: readonly string[]): Kysely<T>
  /** The rows of these runs, shared by several readers; the stream checks each reader's access. */
  shared(runIds: readonly string[]): Kysely<T>
}

export type ReadsOptions = {
  /** Connections used only for these reads. */
  pool: Pool
  /** The role that policies apply to; null if it could not be created, so only the queries' filters protect. */
  role: string | null
}

const settings = ['forge.username', 'forge.runs', 'forge.shared'] as const

/** For routes that read everything visible to the caller. */
export const asCaller = <T>(reads: Reads<T>) =>
  ({
    credential: 'person',
    of: ({ caller }: { caller: Person }) => ({ db: reads.as(caller) }),
  }) as const

export function createReads<T>({ pool, role }: ReadsOptions): Reads<T> {
  const poolUnder = role === null ? () => pool : createGuard({ pool, role, settings })
  const under = (scope: Scope) =>
    new Kysely<T>({ dialect: new PostgresDialect({ pool: poolUnder(scope) }) })
  return {
    as: ({ username, role: held }, runIds = []) =>
      under(
        held === 'admin' ? null : { 'forge.username': username, 'forge.runs': runIds.join(',') },
      ),
    shared: runIds => under({ 'forge.runs': runIds.join(','), 'forge.shared': 'on' }),
  }
}
