import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import { type ArchiveLimits, readArchive } from '../../../platform/files/archive.ts'
import { Refusal } from '../../../platform/refusal.ts'
import { type Given, packed, tarOf } from './tar-of.ts'

const roomy: ArchiveLimits = { expandedBytes: 64 * 1024 * 1024, entries: 100 }

/** The files extracted from an archive before it ended or was refused. */
async function read(t: ExecutionContext, bytes: Buffer, limits = roomy) {
  const folder = await mkdtemp(join(tmpdir(), 'forge-archive-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'archive')
  await writeFile(file, bytes)
  const seen: Record<string, string> = {}
  const reading = readArchive(file, limits, async ({ path, kind, isExecutable }, content) => {
    const inside = await text(content)
    seen[path] = kind === 'folder' ? 'folder' : `${isExecutable ? 'x ' : ''}${inside}`
  })
  return { reading, seen }
}

async function refusalOf(t: ExecutionContext, bytes: Buffer, limits = roomy): Promise<Refusal> {
  const { reading } = await read(t, bytes, limits)
  const error = await t.throwsAsync(reading, { instanceOf: Refusal })
  return error as Refusal
}

const file = (path: string, more: Partial<Given> = {}): Given => ({ path, content: 'x', ...more })

test('files and folders come out with their content, in any number of blocks', async t => {
  const long = 'abc'.repeat(50_000)
  const { reading, seen } = await read(
    t,
    packed(
      { path: './', type: '5' },
      { path: 'src/', type: '5' },
      file('src/train.py', { mode: 0o755, content: 'print()' }),
      file('./data/é.txt', { content: long }),
      file('empty', { content: '' }),
    ),
  )
  t.deepEqual(await reading, { files: 3, bytes: 7 + long.length })
  t.deepEqual(seen, {
    '': 'folder',
    src: 'folder',
    'src/train.py': 'x print()',
    'data/é.txt': long,
    empty: '',
  })
})

const pax = (records: string): Given => ({ path: 'pax', type: 'x', content: records })
const record = (text: string): string => {
  const length = Buffer.byteLength(text) + 2
  const digits = String(length + String(length).length - 0)
  return `${digits} ${text}\n`
}

const unsafe: Record<string, Given[]> = {
  'an absolute path': [file('/etc/passwd')],
  'a path out of the folder': [file('../up')],
  'a path out of the folder, later in it': [file('a/b/../../../up')],
  'a path out of the folder, in an extended header': [pax(record('path=../up')), file('a')],
  'a drive': [file('C:evil')],
  'a backslash': [file('..\\up')],
  'a control character': [file('a\u001b[2J')],
  'a name that is not UTF-8': [file('\ud800')],
  'a part that no file system takes': [pax(record(`path=${'n'.repeat(256)}`)), file('a')],
  'a path that is too long': [pax(record(`path=${'n/'.repeat(600)}x`)), file('a')],
  'a symbolic link': [file('a', { type: '2', link: '/etc', content: '' })],
  'a write through a symbolic link': [
    file('a', { type: '2', link: '/etc', content: '' }),
    file('a/passwd'),
  ],
  'a hard link': [file('b'), file('a', { type: '1', link: 'b', content: '' })],
  'a character device': [file('null', { type: '3', content: '' })],
  'a block device': [file('sda', { type: '4', content: '' })],
  'a named pipe': [file('pipe', { type: '6', content: '' })],
  'a sparse file of 4 GiB': [file('big', { type: 'S', size: 8_589_934_591, content: '' })],
  'a kind of entry that nobody knows': [file('a', { type: 'Z' })],
  'a setuid program': [file('su', { mode: 0o4755 })],
  'the same name twice': [file('a'), file('a')],
  'the same name in another case': [file('Readme'), file('README')],
  'the same name, written differently in Unicode': [file('\u00e9'), file('e\u0301')],
  'a file that is a folder, too': [file('a'), file('a/b')],
  'a folder that is a file, too': [file('a/b'), file('a')],
}
for (const [what, entries] of Object.entries(unsafe))
  test(`refused: ${what}`, async t => {
    const refusal = await refusalOf(t, packed(file('first'), ...entries))
    t.is(refusal.status, 400, refusal.detail)
    t.is(refusal.extras.code, 'archive.unsafe', refusal.detail)
  })

const good = tarOf(file('a'), file('b', { content: 'y'.repeat(2000) }))
const malformed: Record<string, Buffer> = {
  'not compressed': good,
  'not a tar file': gzipSync(Buffer.from('no tar'.repeat(1000))),
  'a zip file': Buffer.from('PK\u0003\u0004'.padEnd(2000, 'z')),
  empty: Buffer.alloc(0),
  'compressed twice': gzipSync(gzipSync(good)),
  'garbage after the end': Buffer.concat([gzipSync(good), Buffer.from('garbage')]),
  'cut off in the compression': gzipSync(good).subarray(0, -20),
  'cut off in the tar': gzipSync(good.subarray(0, 1200)),
  'without its end': gzipSync(good.subarray(0, -1024)),
  'a header with a wrong sum': gzipSync(Buffer.concat([Buffer.alloc(512, 'a'), good])),
}
for (const [what, bytes] of Object.entries(malformed))
  test(`cannot be read: ${what}`, async t => {
    const refusal = await refusalOf(t, bytes)
    t.is(refusal.status, 400, refusal.detail)
    t.is(refusal.extras.code, 'archive.malformed', refusal.detail)
  })

test('an archive that expands past the limit is refused during extraction', async t => {
  const bytes = packed(file('first'), file('big', { content: Buffer.alloc(3_000_000, 'ab12') }))
  const limits = { expandedBytes: 1_000_000, entries: 10 }
  const refusal = await refusalOf(t, bytes, limits)
  t.is(refusal.status, 413)
  t.deepEqual(refusal.extras.data, { limit_bytes: 1_000_000 })
  t.regex(refusal.detail, /1000000 bytes/)
})

test('a bomb is refused by its ratio, even if its zeros follow the end of the archive', async t => {
  const zeros = Buffer.alloc(40 * 1024 * 1024)
  for (const bomb of [
    packed(file('bomb', { content: zeros })),
    gzipSync(Buffer.concat([tarOf(file('a')), zeros])),
  ]) {
    const refusal = await refusalOf(t, bomb)
    t.is(refusal.status, 413)
    t.deepEqual(refusal.extras.data, { limit_ratio: 200 })
  }
})

test('too many entries are refused, those implied by paths included', async t => {
  const deep = file(Array.from({ length: 20 }, (_, at) => `d${at}`).join('/'))
  for (const entries of [Array.from({ length: 11 }, (_, at) => file(`f${at}`)), [deep]]) {
    const refusal = await refusalOf(t, packed(...entries), { ...roomy, entries: 10 })
    t.is(refusal.status, 413)
    t.deepEqual(refusal.extras.data, { limit_entries: 10 })
  }
})

test('an error of the consumer ends the reading, with nothing left waiting', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'forge-archive-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const named = join(folder, 'archive')
  await writeFile(named, packed(file('a', { content: 'z'.repeat(500_000) }), file('b')))
  const seen: string[] = []
  const reading = readArchive(named, roomy, async ({ path }) => {
    seen.push(path)
    throw new Error('the disk is full')
  })
  await t.throwsAsync(reading, { message: 'the disk is full' })
  t.deepEqual(seen, ['a'])
})
