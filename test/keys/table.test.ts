import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { signAccessToken, verifyAccessToken } from '../../auth/access-token.ts'
import { type KeyStore, keyFolder } from '../../auth/key-folder.ts'
import { keyTable, moveKeys } from '../../auth/key-table.ts'
import { type KeyRing, openKeyRing } from '../../auth/keys.ts'
import { CannotStart } from '../../platform/cannot-start.ts'
import { startForge } from '../servers/forge.ts'
import { database } from '../servers/postgres.ts'

const secret = 'a secret that both hosts have'
const tokenSeconds = 8 * 3600

const tokenOf = (keys: KeyRing, now: Date) =>
  signAccessToken(keys, {
    sub: 'alice',
    role: 'operator',
    sid: 's',
    jti: 'j',
    iat: Math.floor(now.getTime() / 1000),
    exp: Math.floor(now.getTime() / 1000) + tokenSeconds,
  })

async function folderOf(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-keys-'))
  t.teardown(() => rm(folder, { recursive: true }))
  return folder
}

test('hosts that share the database and the secret accept each other’s tokens, even after a rotation', async t => {
  const { pool } = await database(t)
  const open = () => openKeyRing(keyTable(pool, secret))
  const [one, other] = await Promise.all([open(), open()])
  const now = new Date(Date.now() + 60_000)
  t.truthy(await verifyAccessToken(other, tokenOf(one, now), now))
  t.truthy(await verifyAccessToken(one, tokenOf(other, now), now))

  const prepared = await one.prepare(now)
  t.is(await other.find(prepared.kid), null, 'a prepared key is not in use')
  await prepared.activate()
  t.truthy(await verifyAccessToken(other, tokenOf(one, now), now))
  t.is(other.current().kid, prepared.kid)
  await other.renew(new Date(now.getTime() + (tokenSeconds + 61) * 1000), tokenSeconds)
  const { rows } = await pool.query('select kid from auth.signing_key')
  t.deepEqual(rows, [{ kid: prepared.kid }], 'what signed no living token is gone')
})

test('the table contains no key in plain text, and neither another secret nor another name opens it', async t => {
  const { pool } = await database(t)
  const keys = await openKeyRing(keyTable(pool, secret))
  const { kid } = keys.current()
  const { rows } = await pool.query<{ sealed: Buffer }>('select sealed from auth.signing_key')
  const { d = '' } = keys.current().privateKey.export({ format: 'jwk' })
  const sealed = rows[0]?.sealed ?? Buffer.alloc(0)
  t.false(sealed.includes(Buffer.from(d, 'base64url')))
  t.notRegex(sealed.toString('latin1'), /PRIVATE KEY/)

  const wrong = { instanceOf: CannotStart, message: /SERVICE_KEYS_SECRET does not open/ }
  await t.throwsAsync(openKeyRing(keyTable(pool, `${secret}!`)), wrong)
  await pool.query('update auth.signing_key set kid = $1', [`${kid.slice(0, 9)}00000000`])
  await t.throwsAsync(openKeyRing(keyTable(pool, secret)), wrong)
})

/** A folder with two keys of different age, and a token that each has signed. */
async function folderWithKeys(t: ExecutionContext, now: Date) {
  const path = await folderOf(t)
  const ring = await openKeyRing(await keyFolder(path))
  const first = tokenOf(ring, now)
  await (await ring.prepare(new Date(now.getTime() + 1000))).activate()
  return { path, tokens: [first, tokenOf(ring, now)] }
}

async function areValid(store: KeyStore, tokens: readonly string[], now: Date): Promise<boolean> {
  const ring = await openKeyRing(store)
  const claims = await Promise.all(tokens.map(token => verifyAccessToken(ring, token, now)))
  return claims.every(Boolean)
}

test('the keys of folders move to the table, and their tokens stay valid', async t => {
  const { pool } = await database(t)
  const now = new Date()
  const table = keyTable(pool, secret)
  const hosts = [await folderWithKeys(t, now), await folderWithKeys(t, now)]
  for (const { path } of hosts) {
    await moveKeys(await keyFolder(path), pool, secret)
    t.deepEqual(await readdir(path), [])
  }
  const tokens = hosts.flatMap(host => host.tokens)
  t.true(await areValid(table, tokens, now))
  t.is((await table.kids()).length, 4)
})

test('a damaged key of a folder is named and not moved', async t => {
  const { pool } = await database(t)
  const { path } = await folderWithKeys(t, new Date())
  const [name = ''] = (await readdir(path)).sort()
  await truncate(join(path, name), 30)
  await t.throwsAsync(moveKeys(await keyFolder(path), pool, secret), {
    instanceOf: CannotStart,
    message: new RegExp(`/${name} is damaged`),
  })
  t.is((await readdir(path)).length, 2)
  t.deepEqual(await keyTable(pool, secret).kids(), [])
})

test('several servers move the keys of a folder at once, and each starts', async t => {
  const { pool } = await database(t)
  const now = new Date()
  const { path, tokens } = await folderWithKeys(t, now)
  const move = async () => {
    await moveKeys(await keyFolder(path), pool, secret)
    return areValid(keyTable(pool, secret), tokens, now)
  }
  t.deepEqual(await Promise.all([move(), move(), move()]), [true, true, true])
  t.deepEqual(await readdir(path), [])
})

for (const step of ['read', 'remove'])
  test(`a server killed while moving keys, before the second ${step}, starts again`, async t => {
    const { pool, url } = await database(t)
    const now = new Date()
    const { path, tokens } = await folderWithKeys(t, now)
    const script = join(import.meta.dirname, 'move-until.ts')
    const child = spawn(process.execPath, [script, path, url, secret, step], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'exit')
    await moveKeys(await keyFolder(path), pool, secret)
    t.true(await areValid(keyTable(pool, secret), tokens, now))
    t.deepEqual(await readdir(path), [])
  })

test('a key that an earlier version stored but did not activate is still moved', async t => {
  const { pool } = await database(t)
  const now = new Date()
  const { path, tokens } = await folderWithKeys(t, now)
  const folder = await keyFolder(path)
  const [kid = ''] = await folder.kids()
  await keyTable(pool, secret).prepare(kid, String(await folder.read(kid)))
  await moveKeys(folder, pool, secret)
  t.true(await areValid(keyTable(pool, secret), tokens, now))
})

test('a server with another secret adds no keys that the others could not open, and keeps its own', async t => {
  const { pool } = await database(t)
  const now = new Date()
  const [one, other] = [await folderWithKeys(t, now), await folderWithKeys(t, now)]
  await moveKeys(await keyFolder(one.path), pool, secret)
  await t.throwsAsync(moveKeys(await keyFolder(other.path), pool, `${secret}!`), {
    instanceOf: CannotStart,
    message: /SERVICE_KEYS_SECRET does not open/,
  })
  t.is((await readdir(other.path)).length, 2)
  t.true(await areValid(keyTable(pool, secret), one.tokens, now))
})

test('a server on another host accepts the first one’s tokens with the same secret, and does not start without it', async t => {
  const forge = await startForge(t, {
    SERVICE_KEYS_SECRET: secret,
    SERVICE_ROLES: 'command-api,relay,projector,query-api',
  })
  const data = { SERVICE_DATA_DIR: await folderOf(t), SERVICE_ROLES: 'query-api' }
  const other = await forge.another(data)
  t.is((await other.call('GET', '/api/auth/me')).status, 200)
  await t.throwsAsync(forge.another({ ...data, SERVICE_KEYS_SECRET: '' }), {
    message: /signing keys of this installation are in its database: set SERVICE_KEYS_SECRET/,
  })
})
