import { execFileSync } from 'node:child_process'
import { appendFile, mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { contentOf } from '../../../server/backup/contents.ts'
import type { FileEntry } from '../../../server/backup/manifest.ts'
import { BackupStore, partBytes } from '../../../server/backup/store.ts'
import { type Copying, TreeCopy } from '../../../server/backup/tree.ts'
import { emptyFolder } from './embedded.ts'

async function given(t: ExecutionContext, part: Partial<Copying> = {}) {
  const folder = await emptyFolder(t)
  const root = join(folder, 'data')
  await mkdir(join(root, 'runs'), { recursive: true })
  const store = new BackupStore(join(folder, 'backups'))
  await store.alone(async () => {})
  const copied: number[] = []
  const copy = new TreeCopy(root, {
    store,
    leavesOut: path => path === 'left-out',
    mayBeUnreadable: path => path.startsWith('runs/'),
    promised: () => null,
    known: new Map(),
    copied: bytes => void copied.push(bytes),
    now: () => new Date(),
    signal: new AbortController().signal,
    ...part,
  })
  const textOf = async (entry: FileEntry | undefined) => {
    const parts: Buffer[] = []
    if (entry) for await (const bytes of contentOf(store, entry)) parts.push(bytes)
    return Buffer.concat(parts)
  }
  return { folder, root, store, copy, copied, textOf }
}

const pathsOf = (entries: readonly { path: string }[]) => entries.map(({ path }) => path).sort()

test('files of every size come back unchanged, and each is read once', async t => {
  const { root, copy, copied, textOf } = await given(t)
  const sizes = [0, 1, partBytes, partBytes + 1, 2 * partBytes]
  const contents = sizes.map(size => Buffer.alloc(size, size % 251))
  for (const [nth, content] of contents.entries()) {
    await writeFile(join(root, `file-${nth}`), content)
    // Changed long ago: a file that was just written may change again within the same tick.
    await utimes(join(root, `file-${nth}`), 1, 1)
  }
  await writeFile(join(root, 'left-out'), 'x')
  const { files } = await copy.pass()
  t.is(files.length, sizes.length)
  for (const [nth, content] of contents.entries()) {
    const entry = files.find(({ path }) => path === `file-${nth}`)
    t.deepEqual(await textOf(entry), content)
    t.is(entry?.mtime_ms, 1000)
  }
  t.is(
    copied.reduce((sum, bytes) => sum + bytes, 0),
    sizes.reduce((sum, bytes) => sum + bytes, 0),
  )
})

test('a later pass has additions, and vanished files can still be restored', async t => {
  const { root, copy, textOf } = await given(t)
  await writeFile(join(root, 'log'), 'one')
  await writeFile(join(root, 'gone'), 'was here')
  await copy.pass()
  await appendFile(join(root, 'log'), ' two')
  await rm(join(root, 'gone'))
  await writeFile(join(root, 'new'), '')
  const { files } = await copy.pass()
  t.deepEqual(pathsOf(files), ['log', 'new'])
  t.is(String(await textOf(files.find(({ path }) => path === 'log'))), 'one two')
  t.is(String(await textOf(copy.earlier('gone') ?? undefined)), 'was here')
})

test('a link is copied as a link, even where it takes the place of a folder', async t => {
  const { folder, root, copy } = await given(t)
  await mkdir(join(folder, 'secret'))
  await writeFile(join(folder, 'secret', 'key'), 'secret')
  await mkdir(join(root, 'runs', 'work'))
  await writeFile(join(root, 'runs', 'work', 'key'), 'harmless')
  await symlink('/etc/shadow', join(root, 'runs', 'shadow'))
  t.deepEqual(pathsOf((await copy.pass()).files), ['runs/work/key'])
  await rename(join(root, 'runs', 'work'), join(root, 'runs', 'aside'))
  await symlink(join(folder, 'secret'), join(root, 'runs', 'work'))
  const { files, links } = await copy.pass()
  t.deepEqual(pathsOf(files), ['runs/aside/key'])
  t.deepEqual(pathsOf(links), ['runs/shadow', 'runs/work'])
})

test('pipes are not waited for, and names that are not text are counted', async t => {
  const { root, copy } = await given(t)
  execFileSync('mkfifo', [join(root, 'runs', 'pipe')])
  await writeFile(Buffer.concat([Buffer.from(`${join(root, 'runs')}/`), Buffer.from([0xff])]), 'x')
  t.deepEqual(await copy.pass(), {
    files: [],
    folders: [{ path: 'runs', mode: 0o755 & ~process.umask(), owner: rootOwner }],
    links: [],
  })
  t.is(copy.leftOut, 1)
})

const rootOwner = process.getuid?.() === 0 ? [0, 0] : null

test('a file that its name promises is taken from the backup before, unless that has lost it', async t => {
  const before = await given(t)
  await writeFile(join(before.root, 'content'), 'abc')
  const [known] = (await before.copy.pass()).files
  if (!known) return t.fail('nothing was copied')
  const promising = { promised: () => known.sha256, known: new Map([[known.sha256, known]]) }
  const same = await given(t, { ...promising, store: before.store })
  await writeFile(join(same.root, 'name'), 'abc')
  t.like((await same.copy.pass()).files[0], { path: 'name', sha256: known.sha256 })
  const empty = await given(t, promising)
  await writeFile(join(empty.root, 'name'), 'abc')
  const { files } = await empty.copy.pass()
  t.is(String(await empty.textOf(files[0])), 'abc')
})
