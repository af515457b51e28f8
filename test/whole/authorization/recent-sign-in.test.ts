import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import type { Route } from '../../../auth/route.ts'
import { nameOfAct } from '../../../clients/console/src/shell/acts.ts'
import { callOf } from '../../samples/call-of.ts'
import { sampleServer } from '../../samples/server.ts'
import { patient } from '../../servers/patience.ts'

/** What does lasting harm. A route is added here and to the page about signing in together. */
const dangerous = [
  'DELETE /api/admin/dead-letters/{letter_id}',
  'DELETE /api/admin/duties/{duty_id}',
  'DELETE /api/admin/plugins/{name}',
  'DELETE /api/admin/users/{username}/second-factor',
  'DELETE /api/auth/passkeys/{passkey_id}',
  'DELETE /api/auth/sessions/{sid}',
  'POST /api/admin/keys/rotate',
  'POST /api/admin/recipes',
  'POST /api/admin/retention',
  'POST /api/auth/passkeys',
  'POST /api/auth/passkeys/options',
  'POST /api/auth/totp',
  'POST /api/auth/totp/remove',
  'POST /api/cli/device/{user_code}/approve',
  'PUT /api/admin/image-registries',
  'PUT /api/admin/maintenance',
  'PUT /api/admin/plugins/{name}',
]

const page = join(import.meta.dirname, '../../../docs/operate/sign-in.md')

const nameOf = ({ method, path }: Route) => `${method} ${path}`

test('exactly the dangerous routes need a sign-in of the last 15 minutes', async t => {
  t.timeout(patient(400_000))
  const { routes, send, credentials, fixtures, pool } = await sampleServer(t)
  await pool.query(
    `update auth.session set authenticated_at = authenticated_at - interval '16 minutes'`,
  )
  const refused: string[] = []
  for (const route of routes.filter(({ credential }) => ['person', 'admin'].includes(credential))) {
    const kind = route.credential === 'admin' ? 'admin' : 'operator'
    // No schema accepts this body, so that calls which are not refused change nothing.
    const call = { ...callOf(route, fixtures[kind]), ...(route.body && { body: 'nothing' }) }
    if (route.method === 'DELETE' && !route.recentSignIn) continue
    const { status, text } = await send({ ...call, headers: credentials[kind] })
    if (status === 403 && JSON.parse(text).code === 'sign_in_again') refused.push(nameOf(route))
  }
  t.deepEqual(refused.sort(), dangerous)
  t.deepEqual(
    routes
      .filter(({ recentSignIn }) => recentSignIn)
      .map(nameOf)
      .sort(),
    dangerous,
  )
})

test('an old sign-in may not make administrators, set passwords or disable people, but may do the rest', async t => {
  const { send, credentials, pool } = await sampleServer(t)
  await pool.query(
    `update auth.session set authenticated_at = authenticated_at - interval '16 minutes'`,
  )
  const ask = async (method: string, path: string, body: object) => {
    const { status, text } = await send({ method, path, body, headers: credentials.admin })
    return status === 200 ? status : JSON.parse(text).code
  }
  const people = '/api/admin/users'
  t.is(await ask('POST', people, { username: 'rita', role: 'admin' }), 'sign_in_again')
  t.is(await ask('POST', people, { username: 'rita', role: 'operator' }), 200)
  t.is(await ask('PATCH', `${people}/rita`, { role: 'admin' }), 'sign_in_again')
  t.is(await ask('PATCH', `${people}/rita`, { password: 'a password of another' }), 'sign_in_again')
  t.is(await ask('PATCH', `${people}/rita`, { disabled: true }), 'sign_in_again')
  t.is(await ask('PATCH', `${people}/rita`, { display_name: 'Rita' }), 200)
})

test('each dangerous route is on the page about signing in, and the console names its act', async t => {
  const text = await readFile(page, 'utf8')
  t.deepEqual(
    dangerous.filter(name => !text.includes(`\`${name}\``)),
    [],
  )
  const unnamed = dangerous.filter(name => {
    const [method = '', path = ''] = name.split(' ')
    return nameOfAct(method, path.replace(/\{\w+\}/g, 'x')) === null
  })
  t.deepEqual(unnamed, [])
})
