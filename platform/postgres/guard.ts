import type { Pool, PoolClient } from 'pg'

/** Values for row-level policies, by setting. Null: act as the pool's user, to whom no policy applies. */
export type Scope = Readonly<Record<string, string>> | null

export type GuardOptions = {
  /** Used only through the guard, because connections keep the scope of their last use. */
  pool: Pool
  /** A role without BYPASSRLS that the pool's user may assume. */
  role: string
  /** All settings that a scope may have; missing ones are set to the empty text. */
  settings: readonly string[]
}

/** Connections that run every statement under one scope. */
export type ScopedPool = Pick<Pool, 'options'> & {
  connect(): Promise<PoolClient>
  end(): Promise<void>
}

/** The scope of each connection; of all guards, because two of them may share a pool. */
const scopes = new WeakMap<PoolClient, string>()

/**
 * Sets the scope of connections when they are handed out. That costs one round trip, or none if the connection already
 * has the scope.
 */
export function createGuard({ pool, role, settings }: GuardOptions) {
  const enter = {
    name: 'enter_scope',
    text: `select ${['role', ...settings].map((name, at) => `set_config('${name}', $${at + 1}, false)`)}`,
  }
  return (scope: Scope): ScopedPool => {
    const values = [scope === null ? 'none' : role, ...settings.map(name => scope?.[name] ?? '')]
    const wanted = JSON.stringify([settings, values])
    return {
      options: pool.options,
      async connect() {
        const client = await pool.connect()
        if (scopes.get(client) === wanted) return client
        try {
          // The scope is unknown while it changes, so that a failure half-way cannot leave a wrong one on record.
          scopes.delete(client)
          await client.query({ ...enter, values })
          scopes.set(client, wanted)
          return client
        } catch (error) {
          client.release(error as Error)
          throw error
        }
      },
      async end() {},
    }
  }
}
