import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { DatasetToPlace } from '../../executor/port.ts'
import { placeFiles } from '../../executor/preparation/place-dataset.ts'
import { trimPlaced } from '../../executor/preparation/trim-placed.ts'
import { folder } from '../recipes/tiny-recipe.ts'
import { artifactOf, serveArtifact } from './serve-artifact.ts'

const bytes = randomBytes(200_000)
const { sha256, size_bytes } = artifactOf(bytes)
const digest = 'd'.repeat(64)
const dataset: DatasetToPlace = {
  ...{ as: 'train', ref: 'ada/maths@1', digest: `sha256:${digest}`, split: null, weight: 1 },
  files: [{ name: 'train/part-0.jsonl', sha256, size_bytes, split: 'train' }],
}

async function placing(t: ExecutionContext) {
  const { asked, source } = await serveArtifact(t, bytes)
  const directory = path.join(await folder(t), 'datasets')
  const place = (of = dataset, now = new Date()) =>
    placeFiles(of, {
      from: { path: 'dataset/content', ref: 'ref' },
      directory,
      now: () => now,
      source,
      signal: new AbortController().signal,
      say: () => {},
    })
  return { asked, directory, place }
}

test('two runs that start at the same moment fetch a version once', async t => {
  const { asked, directory, place } = await placing(t)
  const [one, other] = await Promise.all([place(), place()])
  t.is(one, other)
  t.is(await place(), one)
  t.is(asked.length, 1)
  t.is(
    asked[0]?.url,
    '/api/ingest/dataset/content?run_id=run_b&ref=ada%2Fmaths%401&file=train%2Fpart-0.jsonl',
  )
  t.true((await readFile(path.join(one, 'train/part-0.jsonl'))).equals(bytes))
  t.is((await readdir(directory)).length, 1, 'neither a lock nor remains are left')
})

test('other users can neither list the versions nor guess where one is, nor write to it', async t => {
  const [one, other] = [await placing(t), await placing(t)]
  const [first, second] = [await one.place(), await other.place()]
  t.is((await stat(one.directory)).mode & 0o777, 0o711)
  const [name, otherName] = [one, other].map((at, nth) =>
    path
      .relative(at.directory, nth === 0 ? first : second)
      .split(path.sep)
      .at(0),
  )
  t.regex(String(name), new RegExp(`^${digest}-[0-9a-f]{32}$`))
  t.not(name, otherName)
  t.is((await stat(path.join(first, 'train/part-0.jsonl'))).mode & 0o777, 0o444)
  t.is((await stat(path.join(first, 'train'))).mode & 0o777, 0o755)
})

test('a version that was changed on the machine is fetched again', async t => {
  const { asked, directory, place } = await placing(t)
  const file = path.join(await place(), 'train/part-0.jsonl')
  await chmod(file, 0o644)
  await writeFile(file, 'shorter')
  const again = await place()
  t.true((await readFile(path.join(again, 'train/part-0.jsonl'))).equals(bytes))
  t.is(asked.length, 2)
  t.is((await readdir(directory)).length, 1)
})

test('beyond the limit the least recently used versions are removed, but none in use', async t => {
  const { directory, place } = await placing(t)
  const digests = ['a', 'b', 'c', 'd'].map(letter => letter.repeat(64))
  const at = (minute: number) => new Date(Date.UTC(2026, 10, 28, 0, minute))
  const of = (nth: number) => ({ ...dataset, digest: `sha256:${digests[nth]}` })
  for (const nth of [0, 1, 2, 3]) {
    await place(of(nth), at(nth))
    // The next run that finds a fetched version marks it.
    await place(of(nth), at(nth))
  }
  await place(of(0), at(10))
  const left = async () =>
    (await readdir(directory)).map(name => digests.indexOf(name.slice(0, 64))).sort()
  const trim = (mostBytes: number, now: Date, inUse: string[] = []) =>
    trimPlaced({ directory, mostBytes, now, inUse: async () => new Set(inUse) })
  t.is(await trim(1_000_000, at(120)), 0, 'all of it fits')
  t.is(await trim(0, at(59)), 0, 'it was used within an hour')
  t.is(await trim(600_000, at(120), [digests[1] ?? '']), 2)
  t.deepEqual(
    await left(),
    [0, 1],
    'an unfinished job needs the oldest one; the first was used again',
  )
  t.is(await trim(0, at(69)), 1, 'only one has not been used for an hour')
  t.deepEqual(await left(), [0])
  t.is(await trim(0, at(70)), 1)
  t.is(
    await trimPlaced({
      directory: `${directory}-none`,
      mostBytes: 0,
      now: at(0),
      inUse: async () => new Set(),
    }),
    0,
  )
  const remains = path.join(directory, `${digests[0]}-${'0'.repeat(32)}.new`)
  await mkdir(remains)
  await utimes(remains, at(0), at(0))
  await trim(0, at(23 * 60))
  t.is((await readdir(directory)).length, 1, 'a fetch may be under way')
  await trim(0, at(24 * 60))
  t.deepEqual(await readdir(directory), [], 'a killed process left it')
  const again = await place(of(1))
  t.true(
    (await readFile(path.join(again, 'train/part-0.jsonl'))).equals(bytes),
    'it is fetched again',
  )
})
