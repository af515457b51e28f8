import { randomBytes } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { packed } from '../platform/files/tar-of.ts'
import { sharedForge } from '../servers/forge.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import { ask, complete, put, putRaw, putUnfinished, sha256, type Target } from './sending.ts'

/** A package of about that many bytes, which do not compress. */
const packageOf = (bytes = 1000) =>
  packed({ path: 'train.py', content: 'print(1)' }, { path: 'noise', content: randomBytes(bytes) })

const shared = sharedForge({
  SERVICE_MAX_UPLOAD_MB: '2',
  SERVICE_ROLES: 'command-api,relay,projector,query-api',
})

/** The server, with the steps common to its tests. */
async function scene() {
  const forge = await shared()
  return {
    forge,
    async begin(bytes: Buffer, more: object = {}): Promise<Target> {
      const { status, body } = await ask(forge, bytes, more)
      if (status !== 200) throw new Error(JSON.stringify(body))
      return body
    },
    /** The verdict of each gate on a job with this source. */
    async gates(source: object, token = forge.token): Promise<Record<string, string>> {
      const lock = (await forge.call('GET', '/api/recipes/digits/1.0.0/lock')).body
      const { body } = await forge.call<{ gates: { gate: string; detail: string }[] }>(
        'POST',
        '/api/jobs/preflight',
        {
          token,
          body: {
            api: 'forge/v2',
            metadata: { name: 'packed', project: 'packed' },
            lock,
            spec: { source: { kind: 'package', ...source } },
          },
        },
      )
      return Object.fromEntries(body.gates.map(({ gate, detail }) => [gate, detail]))
    },
  }
}

test.serial(
  'a file is announced, sent and registered; then it is stored under its digest, without any leftovers',
  async t => {
    const { forge, begin } = await scene()
    const bytes = packageOf()
    const target = await begin(bytes)
    t.deepEqual(target.headers, { 'Content-Type': 'application/gzip' })
    t.true(Date.parse(target.expires_at) > Date.now() + 3_000_000)
    const sent = await put(target, bytes)
    t.deepEqual(sent, {
      status: 200,
      body: {
        upload_id: target.upload_id,
        received_bytes: bytes.length,
        size_bytes: bytes.length,
      },
    })
    const registered = {
      upload_id: target.upload_id,
      status: 'completed',
      size_bytes: bytes.length,
      sha256: sha256(bytes),
    }
    t.like(await complete(forge, target), { status: 200, body: registered })
    t.like(await complete(forge, target), { status: 200, body: registered }, 'repeated')
    const folder = join(forge.dataDir, 'uploads')
    t.is((await stat(join(folder, 'sha256', sha256(bytes)))).size, bytes.length)
    t.false((await readdir(folder)).includes(`${target.upload_id}.part`))
    t.is((await put(target, bytes)).status, 409, 'it is registered')
    const { rows } = await forge.pool.query(
      "select type from write.event where stream = 'upload-' || $1 order by stream_version",
      [target.upload_id],
    )
    t.deepEqual(rows, [{ type: 'upload.requested' }, { type: 'upload.completed' }])
  },
)

test.serial('an upload needs Content-Length, of the bytes that were announced', async t => {
  const { begin } = await scene()
  const bytes = packageOf()
  const { url, headers } = await begin(bytes)
  const chunked = await putRaw(url, { ...headers, 'Transfer-Encoding': 'chunked' }, bytes)
  t.is(chunked.status, 411)
  t.is((await put({ url, headers }, bytes.subarray(1))).status, 400)
  t.is((await put({ url, headers }, Buffer.concat([bytes, bytes]))).status, 413)
  const encoded = { 'content-encoding': 'gzip' }
  t.is((await put({ url, headers }, bytes, encoded)).status, 415)
  t.is((await put({ url, headers: { 'content-type': 'text/plain' } }, bytes)).status, 415)
  t.is((await put({ url, headers }, bytes)).status, 200)
})

test.serial('only the issued address is accepted, until it expires', async t => {
  const { begin } = await scene()
  const bytes = packageOf()
  const [target, other] = [await begin(bytes), await begin(packageOf())]
  const changed = (name: string, value: string) => {
    const url = new URL(target.url)
    url.searchParams.set(name, value)
    return String(url)
  }
  const later = String(Math.floor(Date.now() / 1000) + 86_400)
  const forged = [
    changed('exp', later),
    changed('len', '5'),
    changed('sha256', 'ab'.repeat(32)),
    changed('kid', 'other'),
    changed('sig', 'AAAA'),
    target.url.replace(target.upload_id, other.upload_id),
    target.url.replace(target.upload_id, 'upl_00000000000000000000000000'),
  ]
  const details = new Set<unknown>()
  for (const url of forged) {
    const { status, body } = await put({ ...target, url }, bytes)
    t.is(status, 403, url)
    details.add(body.detail)
  }
  t.is(details.size, 1, 'nobody learns which ids exist')
  t.is((await fetch(target.url.split('?')[0] ?? '', { method: 'PUT' })).status, 422)
})

test.serial(
  'bytes with another digest are refused with the last one, and none of them stay',
  async t => {
    const { forge, begin } = await scene()
    const bytes = packageOf()
    const target = await begin(bytes)
    const other = Buffer.from(bytes)
    other.writeUInt8(other.readUInt8(50) ^ 1, 50)
    const refused = await put(target, other)
    t.like(refused, { status: 400, body: { code: 'upload.sha256' } })
    t.like(await complete(forge, target), { status: 409, body: { code: 'upload.incomplete' } })
    t.is((await put(target, bytes)).status, 200)
    t.is((await complete(forge, target)).status, 200)
  },
)

test.serial(
  'an interrupted upload resumes where it stopped, even after a new request for an address',
  async t => {
    const { forge, begin } = await scene()
    const bytes = packageOf(300_000)
    const target = await begin(bytes)
    const [half, all] = [100_000, bytes.length]
    const headers = { ...target.headers, 'Content-Length': all }
    const breakOff = putUnfinished(target.url, headers, bytes.subarray(0, half))
    const probe = { 'content-range': `bytes */${all}` }
    // Counted during writing, in several pieces.
    await until('all that was sent is counted', 30_000, async () => {
      const { body } = await put(target, Buffer.alloc(0), probe)
      return Number(body.received_bytes) === half
    })
    breakOff()
    const at = half
    const again = await begin(bytes)
    t.is(again.upload_id, target.upload_id)
    t.is(again.received_bytes, at)
    t.like(await complete(forge, target), { status: 409, body: { code: 'upload.incomplete' } })

    const range = (from: number, to: number, of = all) => ({
      'content-range': `bytes ${from}-${to - 1}/${of}`,
    })
    const gap = await put(again, bytes.subarray(at + 10), range(at + 10, all))
    t.like(gap, { status: 409, body: { code: 'upload.gap', data: { received_bytes: at } } })
    t.is((await put(again, bytes.subarray(at), range(at, all, all + 1))).status, 400)
    t.is((await put(again, bytes.subarray(at), range(at, all + 1))).status, 400)
    const more = await put(again, bytes.subarray(at, at + 50), range(at, at + 50))
    t.is(more.body.received_bytes, at + 50)
    // Bytes that have arrived may be sent once more.
    t.is((await put(again, bytes.subarray(at), range(at, all))).status, 200)
    t.like(await complete(forge, target), { status: 200, body: { sha256: sha256(bytes) } })
    const known = await begin(bytes)
    t.true(known.exists)
    t.is(known.upload_id, target.upload_id)
  },
)

test.serial(
  'uploads belong to their owner alone, and identical bytes of another person stay hidden',
  async t => {
    const { forge, begin, gates } = await scene()
    const bytes = packageOf()
    const target = await begin(bytes)
    await put(target, bytes)
    await complete(forge, target)
    const eve = await signedIn(forge, 'eve')
    const hers = await ask(forge, bytes, {}, eve)
    t.false(hers.body.exists)
    t.not(hers.body.upload_id, target.upload_id)
    t.is((await complete(forge, target, eve)).status, 404)
    const stolen = await gates({ upload_id: target.upload_id }, eve)
    t.true(stolen.references?.startsWith(`No such package: ${target.upload_id}`))
  },
)

test.serial(
  'oversized uploads are refused when announced, and overexpanding ones when registered',
  async t => {
    const { forge, begin, gates } = await scene()
    const big = await ask(forge, packageOf(), { size_bytes: 3 * 1024 * 1024 })
    t.is(big.status, 413)
    const bomb = packed({ path: 'zeros', content: Buffer.alloc(3 * 1024 * 1024) })
    const target = await begin(bomb)
    await put(target, bomb)
    const refused = await complete(forge, target)
    t.like(refused, { status: 413, body: { code: 'archive.too_large' } })
    t.regex(refused.body.detail, /2097152 bytes/)
    const slip = packed({ path: '../../keys/evil', content: 'x' })
    const slipped = await begin(slip)
    await put(slipped, slip)
    t.like(await complete(forge, slipped), { status: 400, body: { code: 'archive.unsafe' } })
    t.true((await gates({ upload_id: slipped.upload_id })).references?.includes('No such package'))
  },
)

test.serial('a package with sensitive files can be registered, but no job may use it', async t => {
  const { forge, begin, gates } = await scene()
  const bytes = packed(
    { path: 'app/.env', content: 'TOKEN=1' },
    { path: 'keys/id_rsa.old', content: 'x' },
    { path: 'a.py', content: '' },
  )
  const target = await begin(bytes)
  await put(target, bytes)
  t.is((await complete(forge, target)).status, 200)
  const { sensitive_file, references } = await gates({ upload_id: target.upload_id })
  t.is(sensitive_file, 'Sensitive files in the package: app/.env, keys/id_rsa.old')
  t.is(references, 'every reference resolves')
  const digest = `sha256:${'00'.repeat(32)}`
  const other = await gates({ upload_id: target.upload_id, digest })
  t.regex(other.references ?? '', /has the digest sha256:[0-9a-f]{64}, not sha256:0000/)
})

test.serial('a person has at most 20 uploads that are not registered', async t => {
  const { forge } = await scene()
  const token = await signedIn(forge, 'hoarder')
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => ask(forge, packageOf(), {}, token)),
  )
  const statuses = answers.map(({ status }) => status)
  t.is(statuses.filter(status => status === 200).length, 20)
  t.is(statuses.filter(status => status === 409).length, 10)
})
