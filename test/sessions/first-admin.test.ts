import test from 'ava'
import { createPasswords } from '../../auth/passwords.ts'
import { createFirstAdmin } from '../../command-api/sessions/first-admin.ts'
import { database } from '../servers/postgres.ts'
import { routeParts } from '../servers/serve-routes.ts'

for (const [what, names] of [
  ['one name', ['admin', 'admin', 'admin', 'admin', 'admin', 'admin']],
  ['names of their own', ['ada', 'bob', 'cleo', 'dora', 'emil', 'fred']],
] as const)
  test(`one of several servers starting on an empty database, with ${what}, creates the administrator`, async t => {
    const { pool } = await database(t)
    const passwords = await createPasswords()
    const made = await Promise.all(
      names.map(async name => {
        const env = { SERVICE_INIT_ADMIN_USERNAME: name }
        const { deps } = await routeParts(t, pool, () => new Date(), env)
        return await createFirstAdmin(deps, passwords)
      }),
    )
    const [first, ...more] = made.filter(one => one !== null)
    t.deepEqual(more, [])
    const { rows } = await pool.query<{ username: string; password_hash: string }>(
      'select username, password_hash from auth.person',
    )
    t.deepEqual(
      rows.map(row => row.username),
      [first?.username],
    )
    t.true(await passwords.matches(String(first?.password), String(rows[0]?.password_hash)))
  })
