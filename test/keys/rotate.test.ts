import test from 'ava'
import { adminPassword } from '../servers/api.ts'
import { commandLine } from '../servers/command-line.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'

const kidOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid

const signIn = (server: Pick<Forge, 'call'>) =>
  server
    .call<{ token: string }>('POST', '/api/auth/login', {
      body: { username: 'admin', password: adminPassword },
      token: null,
    })
    .then(({ body }) => body.token)

test('after forge admin rotate-keys every process signs with the new key and nobody is signed out', async t => {
  const forge = await startForge(t)
  const other = await forge.another({ SERVICE_ROLES: 'command-api,query-api' })
  const operator = await signedIn(forge, 'alice')
  const old = kidOf(forge.token)
  const refused = await forge.call('POST', '/api/admin/keys/rotate', { token: operator })
  t.is(refused.status, 403)

  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const rotated = await run(['admin', 'rotate-keys'])
  t.is(rotated.code, 0, rotated.stderr)
  const token = await signIn(forge)
  t.not(kidOf(token), old)
  t.true(rotated.stdout.startsWith(`${kidOf(token)} signs from now on\n${old} is removed after `))
  for (const server of [forge, other])
    for (const one of [token, forge.token, operator])
      t.is((await server.call('GET', '/api/auth/me', { token: one })).status, 200)

  const json = await run(['admin', 'rotate-keys', '--json'])
  const { kid, replaced_kid } = JSON.parse(json.stdout)
  t.is(replaced_kid, kidOf(token))
  // The other process sees no token of the new key, so it must find the key on its own.
  let cookie = await cookieOf(forge)
  await until('the other process signs with it', 20_000, async () => {
    const reply = await other.call<{ token: string }>('POST', '/api/auth/refresh', {
      token: null,
      headers: { cookie },
    })
    cookie = firstCookie(reply)
    return kidOf(reply.body.token) === kid
  })

  const { rows } = await forge.pool.query(
    `select data, meta->'actor'->>'id' as actor from write.event where type = 'signing_key.rotated' order by position`,
  )
  t.deepEqual(rows, [
    { data: { kid: kidOf(token), replaced_kid: old }, actor: 'admin' },
    { data: { kid, replaced_kid: kidOf(token) }, actor: 'admin' },
  ])
})

async function cookieOf(server: Pick<Forge, 'call'>): Promise<string> {
  const body = { username: 'admin', password: adminPassword }
  return firstCookie(await server.call('POST', '/api/auth/login', { body, token: null }))
}

const firstCookie = ({ headers }: { headers: Headers }) =>
  headers.getSetCookie()[0]?.split(';')[0] ?? ''
