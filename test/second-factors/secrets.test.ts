import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { type KeyStore, keyFolder } from '../../auth/key-folder.ts'
import { keyTable, moveKeys } from '../../auth/key-table.ts'
import { openKeyRing } from '../../auth/keys.ts'
import { totpSecrets } from '../../auth/totp-secrets.ts'
import { locks } from '../../platform/postgres/locks.ts'
import { withLock } from '../../platform/postgres/with-lock.ts'
import { database } from '../servers/postgres.ts'

const shared = 'a secret that every host has'

async function emptyFolder(t: ExecutionContext) {
  const folder = await mkdtemp(join(tmpdir(), 'forge-keys-'))
  t.teardown(() => rm(folder, { recursive: true }))
  return folder
}

const open = (pool: Pool, store: KeyStore) =>
  totpSecrets(store, work => withLock(pool, { lock: locks.keyCreation, waitMs: 20_000 }, work))

test('processes that seal their first secrets at the same time agree on one key, in a folder and in the table', async t => {
  const { pool } = await database(t)
  for (const store of [await keyFolder(await emptyFolder(t)), keyTable(pool, shared)]) {
    const processes = [1, 2, 3, 4].map(() => open(pool, store))
    const sealed = await Promise.all(processes.map(one => one.seal('the secret', 'ada')))
    for (const [index, bytes] of sealed.entries()) {
      const other = processes[(index + 1) % 4]
      t.is(await other?.open(bytes, 'ada'), 'the secret')
      t.is(await open(pool, store).open(bytes, 'ada'), 'the secret', 'after a restart')
    }
  }
})

test('the key is created with the first secret, closed to others, and is no signing key', async t => {
  const { pool } = await database(t)
  const folder = await emptyFolder(t)
  const store = await keyFolder(folder)
  const secrets = open(pool, store)
  t.is(await secrets.open(Buffer.alloc(64), 'ada'), null)
  t.deepEqual(await readdir(folder), [])
  await secrets.seal('the secret', 'ada')
  t.deepEqual(await readdir(folder), ['second-factors.pem'])
  t.is((await stat(join(folder, 'second-factors.pem'))).mode & 0o777, 0o600)
  const ring = await openKeyRing(store)
  t.not(ring.current().kid, 'second-factors')
  await ring.renew(new Date(Date.now() + 365 * 86_400_000), 3600)
  t.true((await readdir(folder)).includes('second-factors.pem'))
})

test('a process that was killed while it created the key holds nobody up', async t => {
  const { pool } = await database(t)
  for (const store of [await keyFolder(await emptyFolder(t)), keyTable(pool, shared)]) {
    const killed = {
      ...store,
      prepare: (kid: string, pem: string) =>
        store.prepare(kid, pem).then(() => Promise.reject(new Error('killed'))),
    }
    await t.throwsAsync(open(pool, killed).seal('the secret', 'ada'), { message: 'killed' })
    const sealed = await open(pool, store).seal('the secret', 'ada')
    t.is(await open(pool, store).open(sealed, 'ada'), 'the secret')
  }
})

test('it moves into the database with the signing keys, and opens secrets that were sealed earlier', async t => {
  const { pool } = await database(t)
  const folder = await keyFolder(await emptyFolder(t))
  const sealed = await open(pool, folder).seal('the secret', 'ada')
  await moveKeys(folder, pool, shared)
  t.deepEqual(await folder.kids(), [])
  t.is(await open(pool, keyTable(pool, shared)).open(sealed, 'ada'), 'the secret')
})
