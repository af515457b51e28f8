import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { signAccessToken, verifyAccessToken } from '../../auth/access-token.ts'
import { keyFolder } from '../../auth/key-folder.ts'
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

test('hosts that share the database and the secret accept the tokens of each other, also after a rotation', async t => {
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

test('the table holds no key in the clear, and neither another secret nor another name opens it', async t => {
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

test('the keys of a folder move to the table once, and their tokens stay valid', async t => {
  const { pool } = await database(t)
  const [first, second] = [await folderOf(t), await folderOf(t)]
  const before = await openKeyRing(await keyFolder(first))
  const now = new Date()
  const token = tokenOf(before, now)
  const table = keyTable(pool, secret)
  await moveKeys(await keyFolder(first), table)
  t.deepEqual(await readdir(first), [])
  const after = await openKeyRing(table)
  t.truthy(await verifyAccessToken(after, token, now))

  const own = await openKeyRing(await keyFolder(second))
  await moveKeys(await keyFolder(second), table)
  t.is(await after.find(own.current().kid), null, 'only an empty table takes keys')
})

test('a server on another host takes the tokens of the first by the same secret, and does not start without it', async t => {
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
