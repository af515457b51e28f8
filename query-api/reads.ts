import { Kysely, PostgresDialect } from 'kysely'
import type { Pool } from 'pg'
import type { Person } from '../platform/http/route.ts'
import { createGuard, type Scope } from '../platform/postgres/guard.ts'

/** Reads of the read models, each on somebody's behalf (docs/adr/0009-second-wall.md). */
export type Reads<T> = {
  /**
   * What this person may read; admins everything. Row-level policies keep back the rest, whatever the query asks
   * for. `runIds`: the runs whose rows are about to be read, so that they are judged once and not row by row.
   */
  as(caller: Person, runIds?: readonly string[]): Kysely<T>
  /** The rows of these runs, for several people at once; who reads them is asked about by the stream. */
  shared(runIds: readonly string[]): Kysely<T>
}

export type ReadsOptions = {
  /** Connections for these reads alone. */
  pool: Pool
  /** The role that policies apply to; null: none can be had, and all stands with the queries' own filters. */
  role: string | null
}

const settings = ['forge.username', 'forge.runs', 'forge.shared'] as const

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
