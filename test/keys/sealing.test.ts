import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { keyFolder } from '../../auth/key-folder.ts'
import { keyTable, moveKeys } from '../../auth/key-table.ts'
import { openKeyRing } from '../../auth/keys.ts'
import { openSealingKeys } from '../../auth/sealing-keys.ts'
import { database } from '../servers/postgres.ts'

const now = new Date('2026-01-01T00:00:00Z')
const what = { purpose: 'a test', owner: 'run_a' }
const secret = 'a secret of sixteen characters or more'

const folderOf = async ({ teardown }: Pick<ExecutionContext, 'teardown'>) => {
  const path = await mkdtemp(join(tmpdir(), 'forge-sealing-'))
  teardown(() => rm(path, { recursive: true }))
  return path
}

test('a text opens in every process with these keys, and only for its own purpose and owner', async t => {
  const folder = await folderOf(t)
  const one = await openSealingKeys(await keyFolder(folder), now)
  const other = await openSealingKeys(await keyFolder(folder), now)
  const sealed = one.seal('hunter2', what)
  t.false(sealed.includes('hunter2'))
  t.is(await other.open(sealed, what), 'hunter2')
  t.is(await other.open(sealed, { ...what, owner: 'run_b' }), null)
  t.is(await other.open(sealed, { ...what, purpose: 'another' }), null)
  t.is(await other.open(`${sealed.slice(0, -8)}AAAAAAA=`, what), null)
  t.is((await readdir(folder)).length, 1, 'both use one key')
})

test('processes that start together open what the others seal, and a stranger does not', async t => {
  const folder = await folderOf(t)
  const all = await Promise.all(
    [1, 2, 3].map(async () => openSealingKeys(await keyFolder(folder), now)),
  )
  const sealed = all.map((keys, nth) => keys.seal(`text ${nth}`, what))
  for (const keys of all)
    t.deepEqual(await Promise.all(sealed.map(text => keys.open(text, what))), [
      'text 0',
      'text 1',
      'text 2',
    ])
  const stranger = await openSealingKeys(await keyFolder(await folderOf(t)), now)
  t.is(await stranger.open(sealed[0] ?? '', what), null)
  t.is(await stranger.open('../../etc/passwd:AAAA', what), null)
})

test('sealing keys lie among the signing keys, and move to the database with them', async t => {
  const { pool } = await database(t)
  const folder = await folderOf(t)
  const store = await keyFolder(folder)
  const sealed = (await openSealingKeys(store, now)).seal('hunter2', what)
  const ring = await openKeyRing(store)
  t.notRegex(ring.current().kid, /^sealing/, 'a sealing key signs nothing')
  await ring.renew(new Date('2099-01-01T00:00:00Z'), 3600)
  t.is(await (await openSealingKeys(store, now)).open(sealed, what), 'hunter2')
  await moveKeys(store, pool, secret)
  t.deepEqual(await readdir(folder), [])
  const table = keyTable(pool, secret)
  t.is(await (await openSealingKeys(table, now)).open(sealed, what), 'hunter2')
  t.is((await openKeyRing(table)).current().kid, ring.current().kid)
})

test('a damaged sealing key is named, with what its loss means', async t => {
  const folder = await folderOf(t)
  await openSealingKeys(await keyFolder(folder), now)
  const [file = ''] = await readdir(folder)
  await writeFile(join(folder, file), 'damaged')
  await t.throwsAsync(openSealingKeys(await keyFolder(folder), now), {
    message: /sealing-.*restore it from a backup, or remove it: jobs that wait with secrets/s,
  })
})
