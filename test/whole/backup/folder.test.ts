import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import type { Made } from '../../../server/backup/make.ts'
import { BackupStore } from '../../../server/backup/store.ts'
import { commandLine } from '../../servers/command-line.ts'
import { patient } from '../../servers/patience.ts'
import { adminOf, emptyFolder, startEmbedded } from './embedded.ts'

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)

/** The parts of a folder of backups, with their sizes and times. */
async function partsIn(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const sub of await readdir(join(folder, 'parts')))
    for (const name of await readdir(join(folder, 'parts', sub))) {
      const { size, mtimeMs } = await stat(join(folder, 'parts', sub, name))
      found.set(join(sub, name), `${size} ${mtimeMs}`)
    }
  return found
}

test('a further backup adds only changes; damage is named and refused; nothing is overwritten', async t => {
  t.timeout(patient(480_000))
  const folder = await emptyFolder(t)
  const { server, admin } = await startEmbedded(t, folder)
  const backups = join(folder, 'backups')
  const big = 'x'.repeat(9 * 1024 * 1024)
  const work = join(server.dataDir, 'runs', 'run_a', '1', 'work')
  await mkdir(work, { recursive: true })
  await writeFile(join(work, 'big'), big)
  await writeFile(join(server.dataDir, 'reserve'), 'nothing')
  await mkdir(join(server.dataDir, 'demo'))
  await writeFile(join(server.dataDir, 'demo', 'file'), 'nothing')
  await symlink('/etc/passwd', join(work, 'link'))
  const made = async (...options: string[]): Promise<Made> => {
    const { code, stdout, stderr } = await admin('backup', backups, '--json', ...options)
    t.is(code, 0, stderr)
    return JSON.parse(stdout)
  }

  const first = await made()
  const before = await partsIn(backups)
  await writeFile(join(work, 'big'), `${big}y`)
  const second = await made()
  const after = await partsIn(backups)
  for (const [part, stamp] of before) t.is(after.get(part), stamp, 'an older part is unchanged')
  const added = [...after].filter(([part]) => !before.has(part))
  t.is(second.added_bytes, sum(added.map(([, stamp]) => Number.parseInt(stamp, 10))))
  const manifest = await new BackupStore(backups).manifest(second.id)
  // How much of the database changed in between depends on how long that took; nothing else is added.
  const earlier = (await new BackupStore(backups).manifest(first.id)).files
  const contents = new Set(earlier.map(({ sha256 }) => sha256))
  const changed = manifest.files.filter(({ sha256 }) => !contents.has(sha256))
  t.true(second.added_bytes <= sum(changed.map(({ size }) => size)))
  t.true(changed.length < manifest.files.length / 2, `${changed.length} files have changed`)
  const template = manifest.files.filter(({ path }) => path.startsWith('postgres/cluster/base/4/'))
  t.true(template.length > 0)
  t.deepEqual(
    template.filter(file => changed.includes(file)),
    [],
    'template0, which nobody can change, is not copied again',
  )
  const copied = manifest.files.find(({ path }) => path.endsWith('/big'))
  // The sum of all files may shrink: how much WAL a backup holds depends on how long it took.
  t.is(copied?.size, big.length + 1)
  t.is(copied?.parts?.length, 3)
  t.deepEqual(manifest.links, [{ path: 'runs/run_a/1/work/link', target: '/etc/passwd' }])
  t.false(
    manifest.files.some(({ path }) =>
      /^(environments|recipes)\/|postmaster|^reserve|^demo/.test(path),
    ),
  )

  // A process that is killed in the middle leaves parts without a manifest, and its claim on the folder.
  const { run } = await commandLine(t, { SERVICE_DATA_DIR: server.dataDir })
  await writeFile(join(work, 'new'), Buffer.alloc(64 * 1024 * 1024, 7))
  const cut = await run(['admin', 'backup', backups], {
    inItsOwnProcess: true,
    env: { NODE_OPTIONS: `--import=${killsItselfAt(join(backups, 'parts'))}` },
  })
  t.not(cut.code, 0)
  t.deepEqual(await new BackupStore(backups).ids(), [first.id, second.id])
  t.true((await readdir(backups)).includes('in-use.json'))

  const elsewhere = join(await emptyFolder(t), 'data')
  const other = await adminOf(t, elsewhere)
  t.is((await other('restore', backups, '--backup', first.id)).code, 0)
  t.is((await stat(join(elsewhere, 'runs/run_a/1/work/big'))).size, big.length)
  const again = await other('restore', backups)
  t.is(again.code, 1)
  t.regex(
    again.stderr,
    /is not empty \(captured, engine\.json.*set SERVICE_DATA_DIR to another folder/,
  )

  const [part = ''] = copied?.parts?.slice(-1) ?? []
  const file = join(backups, 'parts', part.slice(0, 2), part)
  const bytes = await readFile(file)
  bytes[0] = (bytes[0] ?? 0) ^ 1
  await writeFile(file, bytes)
  const verified = await admin('restore', backups, '--verify', '--backup', second.id)
  t.is(verified.code, 1)
  t.regex(verified.stderr, /runs\/run_a\/1\/work\/big: .*parts\/.* has changed/)
  const third = join(await emptyFolder(t), 'data')
  const refused = await (await adminOf(t, third))('restore', backups, '--backup', second.id)
  t.is(refused.code, 1)
  t.regex(refused.stderr, /damaged:\n.*runs\/run_a\/1\/work\/big: /)
  t.deepEqual(await readdir(third), [], 'nothing is left of it')

  // The named file is deleted, and copied again.
  await rm(file)
  const thinned = await made('--keep', '1')
  t.deepEqual(thinned.removed, [first.id, second.id])
  t.deepEqual(await new BackupStore(backups).ids(), [thinned.id])
  const sound = await admin('restore', backups, '--verify')
  t.is(sound.code, 0, sound.stderr)
  const used = new Set(
    (await new BackupStore(backups).manifest(thinned.id)).files.flatMap(
      ({ parts, sha256 }) => parts ?? [sha256],
    ),
  )
  const left = [...(await partsIn(backups)).keys()].map(path => path.slice(3))
  t.deepEqual(
    left.filter(name => !used.has(name)),
    [],
  )

  const text = await readFile(new BackupStore(backups).manifestFile(thinned.id), 'utf8')
  await writeFile(
    new BackupStore(backups).manifestFile(thinned.id),
    text.replace('"left_out":0', '"left_out":1'),
  )
  t.regex((await admin('restore', backups, '--verify')).stderr, /the manifest is damaged/)
})

/**
 * A module that kills the process as soon as there are new parts in a folder. Each part appears as a temporary file, which
 * is renamed: three events. Reading the folder again and again would take the processor from the backup.
 */
const killsItselfAt = (parts: string) =>
  `data:text/javascript,${encodeURIComponent(
    `import { readdirSync, watch } from 'node:fs'
     const parts = ${JSON.stringify(parts)}
     let events = 0
     const count = event => event === 'rename' && ++events > 6 && process.kill(process.pid, 'SIGKILL')
     if (process.argv[1]?.endsWith('backup/program.ts'))
       for (const folder of readdirSync(parts)) watch(parts + '/' + folder, count)`,
  )}`

test('folders where a backup would be lost, or that hold something else, are refused', async t => {
  t.timeout(patient(300_000))
  const folder = await emptyFolder(t)
  const { server, admin } = await startEmbedded(t, folder)
  const refused = async (target: string) => {
    const { code, stderr } = await admin('backup', target)
    t.is(code, 1)
    return stderr
  }
  t.regex(await refused(join(server.dataDir, 'backups')), /is inside the data directory/)
  await symlink(server.dataDir, join(folder, 'link'))
  t.regex(await refused(join(folder, 'link', 'backups')), /is inside the data directory/)
  t.regex(await refused(folder), /contains the data directory/)
  await mkdir(join(folder, 'photos'))
  await writeFile(join(folder, 'photos', 'cat.jpg'), '')
  t.regex(await refused(join(folder, 'photos')), /holds other files \(cat\.jpg\)/)
  t.deepEqual(await readdir(join(folder, 'photos')), ['cat.jpg'])
  const none = await (await adminOf(t, join(folder, 'nothing')))('restore', join(folder, 'empty'))
  t.regex(none.stderr, /holds no complete backup/)

  const backups = join(folder, 'backups')
  await mkdir(backups)
  await new BackupStore(backups).alone(async () => {
    t.regex(await refused(backups), /Process \d+ is making a backup in .*; wait for its end/)
  })
  const other = await startEmbedded(t, await emptyFolder(t))
  t.is((await admin('backup', backups)).code, 0)
  const { code, stderr } = await other.admin('backup', backups)
  t.is(code, 1)
  t.regex(stderr, /holds backups of another installation/)
})
