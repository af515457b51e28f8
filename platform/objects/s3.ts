import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Range } from '../http/range.ts'
import { Refusal } from '../refusal.ts'
import { Arriving, checkDigest, checkId, isDigest } from './arriving.ts'
import { Chunks } from './chunks.ts'
import type { ObjectStore, Sealed } from './port.ts'
import { S3Bucket, type S3Place, unavailable } from './s3-bucket.ts'

type Segment = { key: string; at: number; size: number }

const mebibyte = 1024 ** 2
/** S3 accepts this many parts, and only the last may be smaller than 5 MiB. */
const mostParts = 10_000
const leastPartBytes = 8 * mebibyte

/** The part size for a file of this size, in bytes. */
export const partBytesOf = (size: number): number =>
  Math.max(leastPartBytes, Math.ceil(size / mostParts))

const noBytes = 'no bytes'

/**
 * Files in a bucket. While they arrive, each is a row of segments, `parts/<id>/<offset>`, because S3 cannot append:
 * after a restart, an upload continues at the sum of their sizes. Sealing a file begins a multipart upload of its
 * bytes to `sha256/<hex>`; keeping it completes that upload, and until then nobody can see or change it.
 */
export class S3Store implements ObjectStore {
  readonly #bucket: S3Bucket
  readonly #segmentBytes: number
  readonly #arriving = new Arriving()

  constructor(place: S3Place, { segmentBytes = 8 * mebibyte }: { segmentBytes?: number } = {}) {
    this.#bucket = new S3Bucket(place)
    this.#segmentBytes = segmentBytes
  }

  close(): void {
    this.#bucket.close()
  }

  async received(id: string): Promise<number> {
    return sizeOfAll(await this.#segments(id))
  }

  async arrived(id: string): Promise<Readable | null> {
    const segments = await this.#segments(id)
    return segments.length === 0 ? null : Readable.from(this.#bytesOf(segments))
  }

  receive(id: string, start: number, body: Readable): Promise<number> {
    checkId(id)
    return this.#arriving.take(id, body, () => this.#write(id, start, body))
  }

  async digestOf(id: string): Promise<string> {
    const hash = createHash('sha256')
    for await (const chunk of this.#bytesOf(await this.#segments(id))) hash.update(chunk)
    return hash.digest('hex')
  }

  async seal(id: string): Promise<Sealed | null> {
    const segments = await this.#segments(id)
    if (segments.length === 0) return null
    const size = sizeOfAll(segments)
    const sha256 = await this.digestOf(id)
    if (size === 0) return { name: noBytes, size, sha256 }
    const key = contentKey(sha256)
    const name = await this.#bucket.begin(key)
    try {
      const copied = await this.#copy(segments, key, name)
      if (copied !== sha256) throw changed()
      return { name, size, sha256 }
    } catch (error) {
      // The original failure is reported instead; the hourly clean-up aborts the remaining uploads.
      await this.#bucket.abort(key, name).catch(() => {})
      throw error
    }
  }

  async keep({ name, size, sha256 }: Sealed): Promise<void> {
    const key = contentKey(sha256)
    if (name === noBytes) return await this.#bucket.put(key, Buffer.alloc(0))
    if (await this.#bucket.complete(key, name)) return
    // Already completed by an earlier attempt of a retried transaction.
    if ((await this.#bucket.sizeOf(key)) !== size)
      throw unavailable(new Error('a sealed copy has disappeared'))
  }

  async discard({ name, sha256 }: Sealed): Promise<void> {
    if (name !== noBytes) await this.#bucket.abort(contentKey(sha256), name)
  }

  async removePart(id: string): Promise<void> {
    for (const { key } of await this.#stored(id)) await this.#bucket.remove(key)
  }

  sizeOf(sha256: string): Promise<number | null> {
    return this.#bucket.sizeOf(contentKey(sha256))
  }

  read(sha256: string, range: Range | null, signal?: AbortSignal): Promise<Readable | null> {
    return this.#bucket.read(contentKey(sha256), range, signal)
  }

  removeContent(sha256: string): Promise<void> {
    return this.#bucket.remove(contentKey(sha256))
  }

  async list(): Promise<{ parts: string[]; contents: string[] }> {
    const { folders } = await this.#bucket.list('parts/', '/')
    const { keys } = await this.#bucket.list('sha256/')
    return {
      parts: folders.map(folder => folder.slice('parts/'.length, -1)),
      contents: keys.map(({ key }) => key.slice('sha256/'.length)).filter(isDigest),
    }
  }

  async removeDebris(before: Date): Promise<void> {
    for (const { key, uploadId } of await this.#bucket.openBefore(before))
      if (key.startsWith('sha256/')) await this.#bucket.abort(key, uploadId)
  }

  async #write(id: string, start: number, body: Readable): Promise<number> {
    await this.#cutAt(id, start)
    const chunks = new Chunks(this.#segmentBytes)
    let at = start
    const put = async (bytes: Buffer) => {
      await this.#bucket.put(segmentKey(id, at), bytes)
      at += bytes.length
    }
    try {
      // Not destroyed, so that the client gets a response if the store fails.
      for await (const chunk of body.iterator({ destroyOnReturn: false }))
        for (const full of chunks.add(chunk)) await put(full)
    } catch (error) {
      // The connection broke: bytes that arrived before are kept.
      if (!(error instanceof Refusal)) await put(chunks.rest())
      throw error
    }
    const rest = chunks.rest()
    if (rest.length > 0 || at === 0) await put(rest)
    return at
  }

  /** Keeps only the bytes before `start`. Segments are removed last to first, so that the rest is always a prefix. */
  async #cutAt(id: string, start: number): Promise<void> {
    for (const segment of (await this.#stored(id)).reverse()) {
      if (segment.at >= start) await this.#bucket.remove(segment.key)
      else if (segment.at + segment.size > start) await this.#shorten(segment, start - segment.at)
    }
  }

  async #shorten(segment: Segment, size: number): Promise<void> {
    const kept: Buffer[] = []
    const range = { first: 0, last: size - 1 }
    for await (const chunk of this.#bytesOf([segment], range)) kept.push(chunk)
    await this.#bucket.put(segment.key, Buffer.concat(kept))
  }

  /** Returns the digest of the copied bytes. */
  async #copy(segments: readonly Segment[], key: string, uploadId: string): Promise<string> {
    const hash = createHash('sha256')
    const chunks = new Chunks(partBytesOf(sizeOfAll(segments)))
    let number = 0
    const put = (bytes: Buffer) => this.#bucket.putPart(key, uploadId, ++number, bytes)
    for await (const chunk of this.#bytesOf(segments)) {
      hash.update(chunk)
      for (const full of chunks.add(chunk)) await put(full)
    }
    const rest = chunks.rest()
    if (rest.length > 0) await put(rest)
    return hash.digest('hex')
  }

  async *#bytesOf(segments: readonly Segment[], range: Range | null = null): AsyncIterable<Buffer> {
    for (const { key, size } of segments) {
      if (size === 0) continue
      const stream = await this.#bucket.read(key, range)
      if (stream === null) throw changed()
      try {
        yield* stream
      } catch (error) {
        throw unavailable(error)
      }
    }
  }

  /** Contiguous from the first byte: segments that another process wrote beyond a gap do not count yet. */
  async #segments(id: string): Promise<Segment[]> {
    const here: Segment[] = []
    let end = 0
    for (const segment of await this.#stored(id)) {
      if (segment.at !== end) break
      here.push(segment)
      end += segment.size
    }
    return here
  }

  /** Ordered by offset. */
  async #stored(id: string): Promise<Segment[]> {
    const folder = `parts/${checkId(id)}/`
    const { keys } = await this.#bucket.list(folder)
    return keys
      .map(({ key, size }) => ({ key, size, at: Number(key.slice(folder.length)) }))
      .sort((one, other) => one.at - other.at)
  }
}

const contentKey = (sha256: string): string => `sha256/${checkDigest(sha256)}`

const segmentKey = (id: string, at: number): string => `parts/${id}/${String(at).padStart(15, '0')}`

const sizeOfAll = (segments: readonly Segment[]): number =>
  segments.reduce((sum, { size }) => sum + size, 0)

const changed = () =>
  new Refusal('conflict', 'The bytes changed while they were registered; register them again', {
    code: 'upload.changed',
  })
