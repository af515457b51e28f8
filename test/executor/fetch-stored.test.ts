import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { fetchStored } from '../../executor/preparation/fetch-stored.ts'
import { NotFetched } from '../../executor/preparation/not-fetched.ts'
import { placeStored, removeOthers } from '../../executor/preparation/place-stored.ts'
import { packed } from '../platform/files/tar-of.ts'
import { folder } from '../recipes/tiny-recipe.ts'
import { until } from '../servers/until.ts'
import { artifactOf, broken, refusal, serveArtifact, silent } from './serve-artifact.ts'

const bytes = randomBytes(300_000)
const never = new AbortController().signal

type Served = Awaited<ReturnType<typeof serveArtifact>>

async function fetching(t: ExecutionContext, { source }: Served, artifact = artifactOf(bytes)) {
  const file = path.join(await folder(t), 'arriving')
  const lines: string[] = []
  const options = { source, signal: never, say: (line: string) => lines.push(line) }
  return {
    file,
    lines,
    fetch: (part = {}) => fetchStored(artifact, file, { ...options, ...part }),
  }
}

test('a broken download resumes where it stopped', async t => {
  let file = ''
  const served = await serveArtifact(
    t,
    bytes,
    broken(bytes, 100_000, () =>
      until('some of it is stored', 20_000, async () => (await stat(file)).size > 0),
    ),
    refusal(503, 'The store is away', 'store.unavailable'),
    broken(bytes, 50_000),
  )
  const { lines, fetch, ...place } = await fetching(t, served)
  file = place.file
  await fetch()
  t.true((await readFile(file)).equals(bytes))
  const [first, second] = served.asked
  t.is(first?.url, '/api/ingest/artifact/content?run_id=run_b&artifact_id=art_1')
  t.is(first?.token, 'fit_a_b')
  t.is(first?.range, null)
  t.regex(String(second?.range), /^bytes=[1-9]\d*-$/)
  t.regex(lines.join('\n'), /trying again from byte [1-9]/)
})

test('an empty file needs no request', async t => {
  const served = await serveArtifact(t, bytes)
  const { file, fetch } = await fetching(t, served, artifactOf(Buffer.alloc(0)))
  await fetch()
  t.is((await stat(file)).size, 0)
  t.is(served.asked.length, 0)
})

test('different bytes, a refusal and a lost file end the fetch with the reason', async t => {
  const flipped = Buffer.from(bytes)
  flipped[7] = 255 - Number(flipped[7])
  const cases = [
    [await serveArtifact(t, flipped), /damaged: it has the SHA-256/],
    [await serveArtifact(t, bytes.subarray(1)), /damaged: it has 299999 bytes, not 300000/],
    [
      await serveArtifact(t, bytes, refusal(410, 'The artifact was deleted')),
      /was deleted \(410\)/,
    ],
    [await serveArtifact(t, bytes, refusal(502, 'has lost the file', 'artifact.lost')), /lost/],
  ] as const
  for (const [served, message] of cases) {
    const { fetch } = await fetching(t, served)
    const error = await t.throwsAsync(fetch(), { instanceOf: NotFetched, message })
    t.true(
      error?.message.startsWith(
        'the run cannot start from art_1 (forge://run_a/upl_1/model.bin): ',
      ),
    )
    t.is(served.asked.length, 1)
  }
})

test('a store that stays unreachable or silent is given up after a while', async t => {
  const away = Array.from({ length: 100 }, () => refusal(503, 'The store is away'))
  const gone = await fetching(t, await serveArtifact(t, bytes, ...away))
  await t.throwsAsync(gone.fetch({ patienceMs: 1000 }), {
    instanceOf: NotFetched,
    message: /nothing arrived for too long: The store is away \(503\)/,
  })
  t.is(gone.lines.length, 1, 'the log tells it once')
  const mute = Array.from({ length: 100 }, () => silent(bytes, 0))
  const still = await fetching(t, await serveArtifact(t, bytes, ...mute))
  await t.throwsAsync(still.fetch({ patienceMs: 500, silentMs: 100 }), {
    message: /nothing arrived for too long/,
  })
})

test('a fetch can be stopped at any time', async t => {
  const stop = new AbortController()
  const heard = Promise.withResolvers<void>()
  const { fetch } = await fetching(
    t,
    await serveArtifact(t, bytes, silent(bytes, 1000, heard.resolve)),
  )
  const ended = t.throwsAsync(fetch({ signal: stop.signal }), { name: 'AbortError' })
  await heard.promise
  stop.abort()
  await ended
})

async function placing(t: ExecutionContext, content: Buffer, filename?: string) {
  const root = await folder(t)
  const directory = path.join(root, 'starts')
  const scratch = path.join(root, 'attempt')
  await mkdir(scratch)
  const served = await serveArtifact(t, content)
  const options = { directory, scratch, source: served.source, signal: never, say: () => {} }
  return {
    ...{ directory, scratch, asked: served.asked },
    place: () => placeStored(artifactOf(content, filename), options),
  }
}

test('a fetched file is reused, and fetched again only if it changed', async t => {
  const { place, asked, directory, scratch } = await placing(t, bytes)
  const first = await place()
  t.is(first, path.join(directory, 'art_1', 'content', 'model.bin'))
  t.true((await readFile(first)).equals(bytes))
  t.is((await stat(first)).mode & 0o777, 0o444)
  t.is(await place(), first)
  t.is(asked.length, 1)
  await writeFile(first, 'trained over')
  t.is(await place(), first)
  t.true((await readFile(first)).equals(bytes))
  t.is(asked.length, 2)
  t.deepEqual(await readdir(scratch), [])
  await removeOthers(directory, ['art_1'])
  t.deepEqual(await readdir(directory), ['art_1'])
  await removeOthers(directory, [])
  t.deepEqual(await readdir(directory), [])
})

test('ranks that begin at the same time all find the same files', async t => {
  const { place, scratch } = await placing(t, bytes)
  const places = await Promise.all(Array.from({ length: 6 }, place))
  t.is(new Set(places).size, 1)
  t.true((await readFile(String(places[0]))).equals(bytes))
  t.deepEqual(await readdir(scratch), [])
})

test('a packed folder becomes a folder again', async t => {
  const content = packed(
    { path: 'config.json', content: '{}' },
    { path: 'shards/', type: '5' },
    { path: 'shards/one.bin', content: 'weights' },
  )
  const { place, directory } = await placing(t, content, 'step-3.folder.tar.gz')
  const found = await place()
  t.is(found, path.join(directory, 'art_1', 'content', 'step-3'))
  t.deepEqual((await readdir(found, { recursive: true })).sort(), [
    'config.json',
    'shards',
    'shards/one.bin',
  ])
  t.is(await readFile(path.join(found, 'shards/one.bin'), 'utf8'), 'weights')
})

test('a packed folder that leads elsewhere or expands too far places nothing', async t => {
  const cases = [
    [packed({ path: '../evil', content: 'x' }), /leads out of the folder/],
    [packed({ path: 'link', type: '2', link: '/etc/passwd' }), /neither a file nor a folder/],
    [packed({ path: 'zeros', content: Buffer.alloc(30_000_000) }), /expands to more than/],
    [randomBytes(500), /not a complete gzip file/],
  ] as const
  for (const [content, message] of cases) {
    const { place, directory, scratch } = await placing(t, content, 'x.folder.tar.gz')
    await t.throwsAsync(place, { instanceOf: NotFetched, message })
    await t.throwsAsync(readdir(directory), { code: 'ENOENT' })
    t.deepEqual(await readdir(scratch), [])
  }
})
