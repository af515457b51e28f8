import { createPasswords } from '../../platform/auth/passwords.ts'
import type { Forge } from './forge.ts'

const password = 'an operator of the tests'

/** A person of this installation, signed in; answers their access token. */
export async function signedIn(
  forge: Forge,
  username: string,
  role: 'admin' | 'operator' = 'operator',
): Promise<string> {
  const { hash } = await createPasswords()
  await forge.pool.query(
    `insert into auth.person (username, role, password_hash, created_at) values ($1, $2, $3, now())`,
    [username, role, await hash(password)],
  )
  const { body } = await forge.call<{ token: string }>('POST', '/api/auth/login', {
    body: { username, password },
    token: null,
  })
  return body.token
}
