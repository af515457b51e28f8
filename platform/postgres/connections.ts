import { Client, type Pool, type PoolClient } from 'pg'
import { isOutage } from './pool.ts'

type Done = (error: Error | undefined, client: PoolClient | undefined, release: () => void) => void
type Connect = (done?: Done) => Promise<PoolClient> | undefined

/**
 * Checks whether a pool gets connections, for readiness. A query on a pool with an idle connection succeeds although its
 * next caller may fail, for instance because other programs took all of PostgreSQL's connections. So once somebody
 * got none, the check fails until a new connection can be opened.
 */
export function watchConnections(pool: Pool): () => Promise<void> {
  let hasFailed = false
  const note = (error: unknown) => {
    if (isOutage(error)) hasFailed = true
  }
  const connect = pool.connect.bind(pool) as Connect
  // `pool.query` calls it as well, with a callback.
  const noting: Connect = done => {
    if (!done)
      return connect()?.catch(error => {
        note(error)
        throw error
      })
    void connect((error, client, release) => {
      if (error) note(error)
      done(error, client, release)
    })
    return undefined
  }
  pool.connect = noting as Pool['connect']
  return async () => {
    if (hasFailed) await openAnother(pool)
    hasFailed = false
    await pool.query('select 1')
  }
}

async function openAnother({ options }: Pool): Promise<void> {
  const client = new Client(options)
  client.on('error', () => {})
  try {
    await client.connect()
  } finally {
    await client.end().catch(() => {})
  }
}
