import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import test, { type ExecutionContext } from 'ava'
import { DirectoryStore } from '../../../platform/objects/directory.ts'
import { storeContract } from './contract.ts'

async function storeIn(folder: string): Promise<DirectoryStore> {
  const store = new DirectoryStore(folder)
  await store.open()
  return store
}

async function folderOf(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-store-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

storeContract('directory', async t => {
  const folder = await folderOf(t)
  return () => storeIn(folder)
})

test('a folder contains incoming and kept files, and nothing else', async t => {
  const folder = await folderOf(t)
  const store = await storeIn(folder)
  await store.receive('upl_1', 0, Readable.from([Buffer.from('x')]))
  const [discarded, kept] = [await store.seal('upl_1'), await store.seal('upl_1')]
  if (!discarded || !kept) throw new Error('there was nothing to seal')
  await store.discard(discarded)
  await store.keep(kept)
  t.deepEqual((await readdir(folder)).sort(), ['sha256', 'upl_1.part'])
  t.is(await readFile(store.fileOf(kept.sha256), 'utf8'), 'x')
})
