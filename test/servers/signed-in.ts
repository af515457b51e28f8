import { passwordOf } from './api.ts'
import type { Forge } from './forge.ts'

/** Creates and signs in a person; returns their access token. */
export async function signedIn(
  forge: Pick<Forge, 'call'>,
  username: string,
  role: 'admin' | 'operator' = 'operator',
): Promise<string> {
  const password = passwordOf(username)
  const created = await forge.call('POST', '/api/admin/users', {
    body: { username, role, password },
  })
  if (created.status !== 200) throw new Error(JSON.stringify(created.body))
  const signIn = await forge.call<{ token: string }>('POST', '/api/auth/login', {
    body: { username, password },
    token: null,
  })
  // An address may sign in only so often.
  if (signIn.status !== 200) throw new Error(JSON.stringify(signIn.body))
  return signIn.body.token
}

type Recorded = { type: string; data: Record<string, unknown>; meta: { actor: object } }

/** The events of a person, in order. */
export async function eventsOf({ pool }: Forge, username: string): Promise<Recorded[]> {
  const { rows } = await pool.query(
    'select type, data, meta from write.event where stream = $1 order by stream_version',
    [`user-${username}`],
  )
  return rows
}
