import type { ClientBase, Pool, PoolClient } from 'pg'
import { isOutage } from './pool.ts'

export type TransactionOptions = {
  /** Default: PostgreSQL's own, `read committed`. */
  isolation?: 'repeatable read' | 'serializable'
}

/** Commits what `work` does and returns its result, or changes nothing and throws. */
export async function inTransaction<T>(
  pool: Pick<Pool, 'connect'>,
  work: (tx: PoolClient) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  const tx = await pool.connect()
  let broken: Error | undefined
  const closing = (error: Error) => {
    broken = error
  }
  try {
    return await commitOrRollBack(tx, { work: () => work(tx), options, closing })
  } finally {
    // Closing a connection rolls back what may still be open on it.
    tx.release(broken)
  }
}

/** The same on a connection of the caller, who closes it if it is lost. */
export function inTransactionOn<T>(
  client: ClientBase,
  work: () => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  return commitOrRollBack(client, { work, options, closing: () => {} })
}

type Attempt<T> = {
  work: () => Promise<T>
  options: TransactionOptions
  /** Called if the transaction could not be rolled back. */
  closing: (error: Error) => void
}

async function commitOrRollBack<T>(
  client: ClientBase,
  { work, options: { isolation }, closing }: Attempt<T>,
): Promise<T> {
  try {
    await client.query(isolation ? `begin isolation level ${isolation}` : 'begin')
    const result = await work()
    const { command } = await client.query('commit')
    // PostgreSQL's reply if a statement failed and `work` swallowed its error.
    if (command === 'ROLLBACK')
      throw new Error('nothing was committed: a statement of the transaction had failed')
    return result
  } catch (error) {
    // On an unresponsive connection, a rollback would only wait for the next time-out.
    if (isOutage(error)) closing(error as Error)
    else await client.query('rollback').catch(closing)
    throw error
  }
}
