import type { ClientBase, Pool, PoolClient } from 'pg'
import { keyOf, keyOfNamedRow, type Lock } from './locks.ts'

/** SQLSTATE of a lock that was not free within `lock_timeout`. */
const lockNotAvailable = '55P03'
/** How much longer than the server this side waits, in milliseconds. */
const graceMs = 5_000

/**
 * Work under a lock, which the session of `client` holds. If that connection is lost, `lost` aborts: from then on
 * another process may have the lock.
 */
export type Locked<T> = (client: PoolClient, lost: AbortSignal) => Promise<T>

/** The lock did not become free in time. */
export class LockTaken extends Error {}

/** Runs `work` under a lock if it is free; returns whether it was. */
export async function tryWithLock(
  pool: Pick<Pool, 'connect'>,
  lock: Lock,
  work: Locked<void>,
): Promise<boolean> {
  let isHeld = false
  await onConnection(pool, async (client, lost) => {
    isHeld = await ask(client, 'pg_try_advisory_lock', lock)
    if (!isHeld) return
    await work(client, lost)
    await unlock(client, lock, lost)
  })
  return isHeld
}

/** Runs `work` under a lock, waiting for it; throws `LockTaken` when it is not free in time. */
export function withLock<T>(
  pool: Pick<Pool, 'connect'>,
  { lock, waitMs }: { lock: Lock; waitMs: number },
  work: Locked<T>,
): Promise<T> {
  return onConnection(pool, async (client, lost) => {
    await waitFor(client, lock, waitMs)
    const result = await work(client, lost)
    await unlock(client, lock, lost)
    return result
  })
}

/** Waits for a lock, which the end of the transaction releases. */
export async function lockInTransaction(tx: ClientBase, lock: Lock): Promise<void> {
  await ask(tx, 'pg_advisory_xact_lock', lock)
}

/** Takes a lock until the transaction ends, if it is free; returns whether it was. */
export const tryLockInTransaction = (tx: ClientBase, lock: Lock): Promise<boolean> =>
  ask(tx, 'pg_try_advisory_xact_lock', lock)

/** Like `tryLockInTransaction`, but others may share the lock. */
export const tryShareInTransaction = (tx: ClientBase, lock: Lock): Promise<boolean> =>
  ask(tx, 'pg_try_advisory_xact_lock_shared', lock)

/**
 * Waits for the locks of several texts, the same as `textLock` of each. They are taken in order of their hashes, so
 * that no two transactions deadlock. Texts with the same hash share a lock, which only makes them wait. Also returns
 * whether the transaction had written before.
 */
export async function lockTextsInTransaction(
  tx: ClientBase,
  texts: readonly string[],
): Promise<{ hasWritten: boolean }> {
  const { rows } = await tx.query<{ has_written: boolean }>({
    name: 'lock_texts',
    text: `select pg_current_xact_id_if_assigned() is not null as has_written, pg_advisory_xact_lock(lock)
             from (select distinct hashtextextended(text, 0) as lock
                     from unnest($1::text[]) as text order by lock) as wanted`,
    values: [texts],
  })
  return { hasWritten: rows.some(row => row.has_written) }
}

/** Rows of a table, by number; `schema` is the schema that `rowLock` finds by the search path. */
export type LockedRows = { schema: string; table: string; numbers: readonly number[] }

/** Waits for `rowLock` of each row; the session holds them until `unlockRows`, or until its connection ends. */
export const lockRows = (client: ClientBase, rows: LockedRows): Promise<void> =>
  askForRows(client, 'pg_advisory_lock', rows)

export const unlockRows = (client: ClientBase, rows: LockedRows): Promise<void> =>
  askForRows(client, 'pg_advisory_unlock', rows)

async function askForRows(
  client: ClientBase,
  name: LockFunction,
  { schema, table, numbers }: LockedRows,
): Promise<void> {
  await client.query({
    name: `${name}_rows`,
    text: `select ${name}(${keyOfNamedRow}) from unnest($3::integer[]) as number`,
    values: [table, schema, numbers],
  })
}

/** Returns the connection to the pool; after a failure closes it instead, which releases its locks. */
async function onConnection<T>(pool: Pick<Pool, 'connect'>, work: Locked<T>): Promise<T> {
  const client = await pool.connect()
  const lost = new AbortController()
  let broken: Error | undefined
  const lose = (error?: Error) => {
    broken ??= error ?? new Error('the connection ended')
    lost.abort(broken)
  }
  const end = () => lose()
  client.on('error', lose)
  client.on('end', end)
  try {
    return await work(client, lost.signal)
  } catch (error) {
    broken ??= error as Error
    throw error
  } finally {
    client.off('error', lose)
    client.off('end', end)
    client.release(broken)
  }
}

/** Replaces the pool's time-outs, which are meant for queries, while the session waits for the lock. */
async function waitFor(client: PoolClient, lock: Lock, waitMs: number): Promise<void> {
  await client.query(
    `select set_config('lock_timeout', $1, false), set_config('statement_timeout', '0', false)`,
    [String(waitMs)],
  )
  try {
    await ask(client, 'pg_advisory_lock', lock, waitMs + graceMs)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === lockNotAvailable)) throw error
    throw new LockTaken(
      `Another process held the advisory lock ${lock.values.join(' ')} for ${waitMs / 1000} s`,
      { cause: error },
    )
  }
  await client.query('reset lock_timeout')
  await client.query('reset statement_timeout')
}

/** Throws if the lock was lost meanwhile: others may have worked at the same time. */
async function unlock(client: PoolClient, lock: Lock, lost: AbortSignal): Promise<void> {
  lost.throwIfAborted()
  await ask(client, 'pg_advisory_unlock', lock)
}

type LockFunction =
  | 'pg_advisory_lock'
  | 'pg_try_advisory_lock'
  | 'pg_advisory_unlock'
  | 'pg_advisory_xact_lock'
  | 'pg_try_advisory_xact_lock'
  | 'pg_try_advisory_xact_lock_shared'

async function ask(
  client: ClientBase,
  name: LockFunction,
  { key, values }: Lock,
  withinMs?: number,
): Promise<boolean> {
  const { rows } = await client.query<{ held: unknown }>({
    name: `${name}_${key}`,
    text: `select ${name}(${keyOf[key]}) as held`,
    values: [...values],
    ...(withinMs !== undefined && { query_timeout: withinMs }),
  })
  return rows[0]?.held === true
}
