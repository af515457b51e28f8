import type { Pool, PoolClient } from 'pg'

/** Values that row-level policies compare with, by setting; null: as the user of the pool, to whom none applies. */
export type Scope = Readonly<Record<string, string>> | null

export type GuardOptions = {
  /** Used through the guard alone: its connections stay in the scope they were used under last. */
  pool: Pool
  /** A role without BYPASSRLS that the pool's user may take on. */
  role: string
  /** Every setting a scope may have; those it leaves out are empty. */
  settings: readonly string[]
}

/** Connections whose every statement runs under one scope. */
export type ScopedPool = Pick<Pool, 'options'> & {
  connect(): Promise<PoolClient>
  end(): Promise<void>
}

/**
 * Puts connections under a scope as they are handed out. That costs one round trip, and none where the
 * connection was under the same scope before.
 */
export function createGuard({ pool, role, settings }: GuardOptions) {
  const scopes = new WeakMap<PoolClient, string>()
  const enter = {
    name: 'enter_scope',
    text: `select ${['role', ...settings].map((name, at) => `set_config('${name}', $${at + 1}, false)`)}`,
  }
  return (scope: Scope): ScopedPool => {
    const values = [scope === null ? 'none' : role, ...settings.map(name => scope?.[name] ?? '')]
    const wanted = JSON.stringify(values)
    return {
      options: pool.options,
      async connect() {
        const client = await pool.connect()
        if (scopes.get(client) === wanted) return client
        try {
          // Not known while it changes: a failure half-way must not leave a connection under the wrong name.
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
