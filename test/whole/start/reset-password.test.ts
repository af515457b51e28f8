import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { tamper } from '../../audit/recorded.ts'
import { newCode } from '../../second-factors/authenticator.ts'
import { adminPassword } from '../../servers/api.ts'
import { commandLine } from '../../servers/command-line.ts'
import { startForge } from '../../servers/forge.ts'
import { serverProcess } from '../../servers/server-process.ts'
import { eventsOf, signedIn } from '../../servers/signed-in.ts'
import { until } from '../../servers/until.ts'

const login = (url: string, username: string, password: string) =>
  fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  })

async function emptyFolder(t: ExecutionContext) {
  const folder = await mkdtemp(join(tmpdir(), 'forge-reset-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

test('a lost password is replaced on the host, with or without a running server', async t => {
  const folder = await emptyFolder(t)
  const server = await serverProcess({ folder })
  t.teardown(server.stop)
  await server.start()
  const { run } = await commandLine(t, { SERVICE_DATA_DIR: server.dataDir })

  const first = await run(['admin', 'reset-password'])
  t.is(first.code, 0, first.stderr)
  t.regex(first.stdout, /^\S{24}\n$/)
  t.is((await login(server.url, 'admin', first.stdout.trim())).status, 200)

  await server.stop()
  const second = await run(['admin', 'reset-password', 'admin'])
  t.is(second.code, 0, second.stderr)
  await server.start()
  t.is((await login(server.url, 'admin', first.stdout.trim())).status, 401)
  t.is((await login(server.url, 'admin', second.stdout.trim())).status, 200)
})

test('it ends the sessions of that person, is on the audit, and changes nothing for an unknown name', async t => {
  const forge = await startForge(t)
  const token = await signedIn(forge, 'alice')
  const url = String(forge.pool.options.connectionString)
  const { run } = await commandLine(t, { SERVICE_DATABASE_URL: url })
  const wrong = await run(['admin', 'reset-password', 'alicia'])
  t.is(wrong.code, 1)
  t.is(wrong.stdout, '')
  t.regex(
    wrong.stderr,
    /alicia does not sign in here with a password; these people do: admin, alice\./,
  )

  const { code, stdout, stderr } = await run(['admin', 'reset-password', 'alice'])
  t.is(code, 0, stderr)
  t.is((await login(forge.url, 'alice', stdout.trim())).status, 200)
  await until('the old session has ended', 5_000, async () => {
    const { status } = await forge.call('GET', '/api/auth/me', { token })
    return status === 401
  })
  const events = await eventsOf(forge, 'alice')
  const reset = events.find(({ type }) => type === 'user.password_reset')
  t.like(reset?.meta.actor, { type: 'system', id: 'host', via: 'reset-password' })
  t.is((await forge.call('GET', '/api/auth/me')).status, 200, 'nobody else is signed out')
})

test('a second factor stays unless its removal is asked for, and its removal is on the audit', async t => {
  const forge = await startForge(t)
  const begun = await forge.call<{ secret: string }>('POST', '/api/auth/totp', {
    body: { password: adminPassword },
  })
  const code = newCode(begun.body.secret)
  t.is((await forge.call('POST', '/api/auth/totp/confirm', { body: { code } })).status, 200)
  const url = String(forge.pool.options.connectionString)
  const { run } = await commandLine(t, { SERVICE_DATABASE_URL: url })

  const first = await run(['admin', 'reset-password'])
  t.is(first.code, 0, first.stderr)
  t.regex(first.stderr, /also takes a code; .* add --remove-second-factor/)
  const refused = await login(forge.url, 'admin', first.stdout.trim())
  t.like(await refused.json(), { code: 'second_factor.required' })

  const second = await run(['admin', 'reset-password', '--remove-second-factor', 'admin'])
  t.is(second.code, 0, second.stderr)
  t.regex(second.stderr, /The second factor of admin is removed/)
  t.is((await login(forge.url, 'admin', second.stdout.trim())).status, 200)
  const events = await eventsOf(forge, 'admin')
  const removed = events.find(({ type }) => type === 'user.second_factor_removed')
  t.like(removed?.meta.actor, { type: 'system', id: 'host' })
  const third = await run(['admin', 'reset-password', '--remove-second-factor'])
  t.is(third.code, 0, 'none is left to remove')
})

test('a folder without a server is named, and nothing is created in it', async t => {
  const folder = await emptyFolder(t)
  const { run } = await commandLine(t, { SERVICE_DATA_DIR: join(folder, 'data') })
  const { code, stderr } = await run(['admin', 'reset-password'])
  t.is(code, 1)
  t.regex(stderr, /There is no database in .*data\/postgres; go to the folder/)
  t.deepEqual(await readdir(folder), [])
})

test('on a database that was restored elsewhere, it begins the next epoch before it writes', async t => {
  const forge = await startForge(t)
  await forge.stop()
  // In the state left by a dump of a cluster with higher transaction ids.
  const raised = (table: string) =>
    `update write.${table} set xid = (xid::text::bigint + 900000000000)::text::xid8`
  await tamper(forge.pool, ...['event', 'relay_cursor', 'audit_head'].map(raised))
  const url = String(forge.pool.options.connectionString)
  const { run } = await commandLine(t, { SERVICE_DATABASE_URL: url })
  const { code, stderr } = await run(['admin', 'reset-password'])
  t.is(code, 0, stderr)
  const { rows } = await forge.pool.query(
    `select epoch from write.event where type = 'user.password_reset'`,
  )
  t.deepEqual(rows, [{ epoch: 2 }])
})
