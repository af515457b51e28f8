import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import test, { type ExecutionContext } from 'ava'
import { readPacked } from '../../../platform/files/archive.ts'
import {
  filesInFolder,
  packedSize,
  packFolder,
  unpackedFile,
} from '../../../platform/files/stored-folder.ts'
import type { Range } from '../../../platform/http/range.ts'

const contents: Record<string, Buffer> = {
  'README.md': Buffer.from('# A model\n'),
  [`${'deep/'.repeat(30)}vocab — 词.json`]: randomBytes(70_000),
  empty: Buffer.alloc(0),
  'model.safetensors': randomBytes(400_123),
  ...Object.fromEntries(
    Array.from({ length: 600 }, (_, n) => [`shards/${'x'.repeat(60)}-${n}`, Buffer.from(`${n}`)]),
  ),
}
const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const files = Object.entries(contents).map(([path, bytes]) => ({
  ...{ path, size: bytes.length, sha256: digest(bytes) },
}))

const read = async (source: Readable | null) =>
  Buffer.concat(await (source ?? Readable.from([])).toArray())
const open = async ({ path }: { path: string }) => Readable.from([contents[path]])
const stored = (bytes: Buffer) => ({
  size: bytes.length,
  read: async ({ first, last }: Range) => Readable.from([bytes.subarray(first, last + 1)]),
})

test('files of a packed folder are listed and read one by one, from any byte', async t => {
  const packed = await read(packFolder(files, open))
  t.is(packed.length, packedSize(files))
  const archive = stored(packed)
  const found = (await filesInFolder(archive)) ?? []
  t.deepEqual(
    found.map(({ offset, ...file }) => file),
    files,
  )
  for (const file of found) {
    const whole = contents[file.path] ?? Buffer.alloc(0)
    t.true((await read(await unpackedFile(archive, file))).equals(whole), file.path)
    if (file.size < 3) continue
    const range = { first: file.size - 2, last: file.size - 1 }
    t.true((await read(await unpackedFile(archive, file, range))).equals(whole.subarray(-2)))
  }
  t.true((await read(packFolder(files, open))).equals(packed), 'the same files, the same bytes')
})

test('other programs unpack it, and our own reader accepts it', async t => {
  const packed = await read(packFolder(files, open))
  const names = new Map<string, string>()
  const limits = { expandedBytes: 10_000_000, entries: 20_000 }
  const source = Readable.from([packed])
  await readPacked({ source, size: packed.length }, limits, async ({ path }, content) => {
    const chunks: Buffer[] = []
    for await (const chunk of content) chunks.push(chunk)
    names.set(path, digest(Buffer.concat(chunks)))
  })
  t.deepEqual([...names], files.map(({ path, sha256 }) => [path, sha256]) as [string, string][])
  const at = folder(t)
  writeFileSync(join(at, 'all.tar.gz'), packed)
  execFileSync('tar', ['-xzf', 'all.tar.gz'], { cwd: at })
  for (const { path, sha256 } of files) t.is(digest(readFileSync(join(at, path))), sha256, path)
  const script = `
import hashlib, json, sys, tarfile
with tarfile.open(sys.argv[1]) as archive:
    print(json.dumps({m.name: hashlib.sha256(archive.extractfile(m).read()).hexdigest() for m in archive}))
`
  const said = execFileSync('python3', ['-c', script, join(at, 'all.tar.gz')])
  t.deepEqual(JSON.parse(said.toString()), Object.fromEntries(names))
})

test('content that differs from the list fails, and other archives have no list', async t => {
  const [file] = files
  const other = async () => Readable.from([Buffer.from('# Another')])
  await t.throwsAsync(async () => read(packFolder(file ? [file] : [], other)))
  const at = folder(t)
  writeFileSync(join(at, 'a'), 'text')
  execFileSync('tar', ['-czf', 'b.tar.gz', 'a'], { cwd: at })
  for (const bytes of [readFileSync(join(at, 'b.tar.gz')), Buffer.from('x'), randomBytes(5000)])
    t.is(await filesInFolder(stored(bytes)), null)
  const packed = await read(packFolder(files, open))
  t.is(await filesInFolder(stored(packed.subarray(0, 100_000))), null, 'cut')
  const lying = Buffer.from(packed)
  lying.write('9', lying.indexOf(`${digest(contents.empty ?? Buffer.alloc(0))} `) + 65)
  t.is(await filesInFolder(stored(lying)), null, 'a size that does not fit')
})

function folder(t: ExecutionContext): string {
  const at = mkdtempSync(join(tmpdir(), 'forge-folder-'))
  t.teardown(() => rmSync(at, { recursive: true }))
  return at
}
