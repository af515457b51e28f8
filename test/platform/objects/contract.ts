import { createHash, randomBytes } from 'node:crypto'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import { contentOf } from '../../../platform/objects/contents.ts'
import type { ObjectStore, Sealed } from '../../../platform/objects/port.ts'
import { Refusal } from '../../../platform/refusal.ts'
import { patient } from '../../servers/patience.ts'
import { until } from '../../servers/until.ts'

/** Options for opening a store that cuts incoming data into segments. */
export const segmentBytes = 64 * 1024

/** Opens the same store once more, like a restarted server. */
export type Reopen = () => Promise<ObjectStore>

export const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

export const sending = (bytes: Buffer) => Readable.from(bytes.length === 0 ? [] : [bytes])

/** Sends these bytes, and then breaks its connection. */
export const breakingAfter = (bytes: Buffer): Readable =>
  Readable.from(
    (async function* () {
      if (bytes.length > 0) yield bytes
      throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
    })(),
  )

export async function sealed(store: ObjectStore, id: string): Promise<Sealed> {
  const found = await store.seal(id)
  if (found === null) throw new Error('there was nothing to seal')
  return found
}

export async function bytesOf(stream: Readable | null): Promise<Buffer | null> {
  return stream && buffer(stream)
}

const never = new AbortController().signal

/** Sends, seals and keeps a file. */
export async function kept(store: ObjectStore, id: string, bytes: Buffer): Promise<string> {
  await store.receive(id, 0, sending(bytes))
  const copy = await sealed(store, id)
  await store.keep(copy)
  await store.removePart(id)
  return copy.sha256
}

/** Registers one test for each rule that every store must follow. */
export function storeContract(name: string, open: (t: ExecutionContext) => Promise<Reopen>): void {
  const rule = (title: string, body: (t: ExecutionContext, reopen: Reopen) => Promise<void>) =>
    test.serial(`${name}: ${title}`, async t => {
      t.timeout(patient(60_000))
      await body(t, await open(t))
    })
  contentRules(rule)
  arrivalRules(rule)
  repeatRules(rule)
}

type Rule = (title: string, body: (t: ExecutionContext, reopen: Reopen) => Promise<void>) => void

function contentRules(rule: Rule): void {
  rule('every byte of files of any size is kept', async (t, reopen) => {
    const store = await reopen()
    const sizes = [1, segmentBytes - 1, segmentBytes, segmentBytes + 1, 3 * segmentBytes + 5]
    for (const [at, size] of [0, ...sizes].entries()) {
      const bytes = randomBytes(size)
      const digest = await kept(store, `upl_${at}`, bytes)
      t.is(digest, sha256(bytes))
      t.is(await store.sizeOf(digest), size)
      t.deepEqual(await bytesOf(await store.read(digest, null)), bytes)
      t.deepEqual(await contentOf(await reopen(), digest, never), { size, sha256: digest })
    }
  })

  rule('a file of many parts is kept whole, and read in ranges across them', async (t, reopen) => {
    const store = await reopen()
    const bytes = randomBytes(20 * 1024 ** 2 + 7)
    const digest = await kept(store, 'upl_big', bytes)
    t.is(digest, sha256(bytes))
    t.deepEqual(await contentOf(store, digest, never), { size: bytes.length, sha256: digest })
    const boundary = 8 * 1024 ** 2
    const ranges = [
      [0, 0],
      [0, bytes.length - 1],
      [bytes.length - 1, bytes.length - 1],
      [boundary - 1, boundary],
      [boundary, boundary + 99],
      [bytes.length - 100, bytes.length - 1],
    ] as const
    for (const [first, last] of ranges) {
      const read = await bytesOf(await store.read(digest, { first, last }))
      t.true(read?.equals(bytes.subarray(first, last + 1)), `${first}-${last}`)
    }
  })

  rule('missing files are distinguished from unreachable ones', async (t, reopen) => {
    const store = await reopen()
    const digest = sha256(Buffer.from('nobody sent it'))
    t.is(await store.sizeOf(digest), null)
    t.is(await store.read(digest, null), null)
    t.is(await store.read(digest, { first: 0, last: 0 }), null)
    t.is(await contentOf(store, digest, never), null)
    t.is(await store.received('upl_none'), 0)
    t.is(await store.seal('upl_none'), null)
  })

  rule('no name leads out of the store', async (t, reopen) => {
    const store = await reopen()
    for (const id of ['../evil', 'a/b', '', '.', 'ü', 'a\nb', 'a?b', 'a%2fb', 'x'.repeat(81)])
      await t.throwsAsync(async () => store.receive(id, 0, sending(Buffer.from('x'))), {
        message: /^no upload id/,
      })
    for (const digest of ['../evil', '', 'A'.repeat(64), 'a'.repeat(63)])
      await t.throwsAsync(async () => store.sizeOf(digest), { message: /^no SHA-256/ })
  })
}

function arrivalRules(rule: Rule): void {
  rule('an upload resumes where its connection broke, even after a restart', async (t, reopen) => {
    const bytes = randomBytes(3 * segmentBytes + 100)
    const cuts = [1, 2, 3].flatMap(n => [-1, 0, 1].map(by => n * segmentBytes + by))
    for (const cut of [0, 1, ...cuts, bytes.length]) {
      const id = `upl_${cut}`
      await t.throwsAsync(
        (await reopen()).receive(id, 0, breakingAfter(bytes.subarray(0, cut))),
        { instanceOf: Refusal, message: /broke off/ },
        String(cut),
      )
      const store = await reopen()
      t.is(await store.received(id), cut, 'what arrived before it broke')
      t.is(await store.receive(id, cut, sending(bytes.subarray(cut))), bytes.length)
      t.is(await store.digestOf(id), sha256(bytes), String(cut))
      t.deepEqual(await bytesOf(await store.arrived(id)), bytes, String(cut))
    }
    t.is(await (await reopen()).arrived('upl_none'), null)
  })

  rule('bytes sent again replace the earlier ones', async (t, reopen) => {
    const store = await reopen()
    const [first, second] = [randomBytes(2 * segmentBytes + 9), randomBytes(segmentBytes)]
    await store.receive('upl_1', 0, sending(first))
    for (const start of [segmentBytes + 3, segmentBytes, 5, 0]) {
      t.is(await store.receive('upl_1', start, sending(second)), start + second.length)
      t.is(await store.received('upl_1'), start + second.length)
      const now = Buffer.concat([first.subarray(0, start), second])
      t.is(await store.digestOf('upl_1'), sha256(now), String(start))
      await store.receive('upl_1', 0, sending(first))
    }
  })

  rule('a newer request for the same upload ends the older one', async (t, reopen) => {
    const store = await reopen()
    const hanging = new PassThrough()
    const older = store.receive('upl_1', 0, hanging)
    hanging.write(randomBytes(segmentBytes))
    await until('the first bytes are here', 5000, async () => {
      return (await store.received('upl_1')) === segmentBytes
    })
    const refused = t.throwsAsync(older, { instanceOf: Refusal, message: /broke off/ })
    t.is(await store.receive('upl_1', segmentBytes, sending(Buffer.from('def'))), segmentBytes + 3)
    await refused
    t.is(await store.received('upl_1'), segmentBytes + 3)
  })

  rule('sealed content does not change, whatever is still written', async (t, reopen) => {
    const [store, elsewhere] = [await reopen(), await reopen()]
    const bytes = randomBytes(segmentBytes + 10)
    await store.receive('upl_1', 0, sending(bytes))
    const copy = await sealed(store, 'upl_1')
    t.like(copy, { size: bytes.length, sha256: sha256(bytes) })
    await elsewhere.receive('upl_1', 0, sending(randomBytes(2 * segmentBytes)))
    t.is(await store.sizeOf(copy.sha256), null, 'it is invisible until it is kept')
    await elsewhere.keep(copy)
    t.deepEqual(await bytesOf(await store.read(copy.sha256, null)), bytes)
  })
}

function repeatRules(rule: Rule): void {
  rule(
    'keeping can be repeated harmlessly, even by others with the same bytes',
    async (t, reopen) => {
      const store = await reopen()
      const bytes = randomBytes(segmentBytes + 1)
      await store.receive('upl_1', 0, sending(bytes))
      await store.receive('upl_2', 0, sending(bytes))
      const [one, other] = [await sealed(store, 'upl_1'), await sealed(store, 'upl_2')]
      await store.keep(one)
      await store.keep(one)
      await store.discard(one)
      await store.keep(other)
      await store.discard(other)
      t.deepEqual(await bytesOf(await store.read(one.sha256, null)), bytes)
      t.deepEqual((await store.list()).contents, [one.sha256])
    },
  )

  rule('a copy discarded or left by a crash leaves nothing behind', async (t, reopen) => {
    const store = await reopen()
    const bytes = randomBytes(100)
    await store.receive('upl_1', 0, sending(bytes))
    const discarded = await sealed(store, 'upl_1')
    await store.discard(discarded)
    await store.discard(discarded)
    await t.throwsAsync(store.keep(discarded))
    const left = await sealed(store, 'upl_1')
    await store.removeDebris(new Date(Date.now() - 3_600_000))
    await store.keep(left)
    const crashed = await sealed(store, 'upl_1')
    await store.removeContent(left.sha256)
    await store.removeDebris(new Date(Date.now() + 3_600_000))
    await t.throwsAsync(store.keep(crashed))
    t.deepEqual((await store.list()).contents, [])
  })

  rule('deleting can be repeated harmlessly', async (t, reopen) => {
    const store = await reopen()
    const digest = await kept(store, 'upl_1', randomBytes(10))
    const other = await kept(store, 'upl_2', randomBytes(10))
    await store.receive('upl_3', 0, sending(randomBytes(3 * segmentBytes)))
    await store.removeContent(digest)
    await store.removeContent(digest)
    await store.removePart('upl_1')
    t.is(await store.sizeOf(digest), null)
    t.is(await store.sizeOf(other), 10)
    t.deepEqual(await store.list(), { parts: ['upl_3'], contents: [other] })
    await store.removePart('upl_3')
    await store.removePart('upl_3')
    t.is(await store.received('upl_3'), 0)
    t.deepEqual(await store.list(), { parts: [], contents: [other] })
  })
}
