import { isUtf8 } from 'node:buffer'
import { PassThrough, type Transform } from 'node:stream'
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib'
import type { Context, Middleware } from 'koa'
import { koaBody } from 'koa-body'
import { Refusal } from '../refusal.ts'
import { type BodyRoom, type Share, takenAtOnceBytes } from './body-room.ts'
import { parseJson, quoteNonFinite } from './json.ts'
import { refuseRepeatedKeys } from './repeated-keys.ts'

const readers = new Map<number, Middleware>()
const noNext = async () => {}

export type BodyOptions = {
  /** Maximum bytes of the body after decompression. */
  limitBytes: number
  /** See `parseJson`. */
  flat: boolean
  keysMayRepeat: boolean
  bareNonFinite: boolean
  /** Shared by all bodies of the process. */
  room: BodyRoom
  /** The sender; see `BodyRoom`. */
  caller: string
}

/**
 * Reads a JSON body (`gzip`, `deflate`, `br`, `zstd` or uncompressed). Refuses 413 past the limit, 415 for another content
 * type and 503 while too many bodies are being read, and 400 if it is not UTF-8 or repeats a key; malformed JSON is `Invalid`.
 */
export async function readJsonBody(
  ctx: Context,
  { limitBytes, flat, keysMayRepeat, bareNonFinite, room, caller }: BodyOptions,
): Promise<unknown> {
  const type = ctx.get('content-type')
  // Checked only for unusual types, because the check takes longer than reading a small body.
  if (type !== '' && type !== 'application/json' && !ctx.is('json', '+json'))
    throw new Refusal(
      'unsupported_media_type',
      `Content-Type ${type} is not accepted here; send application/json`,
    )
  if (type === '') ctx.req.headers['content-type'] = 'application/json'
  const encoding = encodingOf(ctx)
  const decoder = decoders[encoding]
  const share = room.share(caller)
  try {
    const bytes = decoder
      ? await readThrough(ctx, decoder(), { encoding, limitBytes, share })
      : await readUnencoded(ctx, limitBytes, share)
    const text = bareNonFinite ? quoteNonFinite(decodedText(bytes)) : decodedText(bytes)
    const value = parseJson(text, flat)
    if (!keysMayRepeat) refuseRepeatedKeys(text)
    return value
  } finally {
    share.release()
  }
}

const byteOrderMark = 0xfeff

/** Decoders silently replace invalid bytes, which would change a name or a password. */
function decodedText(bytes: Buffer): string {
  if (!isUtf8(bytes))
    throw new Refusal('invalid', 'The body is not valid UTF-8, the encoding of all JSON', {
      code: 'body.not_utf8',
    })
  const text = bytes.toString('utf8')
  return text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text
}

/** Reads a body of any other type, with the same encodings and refusals. */
export async function readBytes(
  ctx: Context,
  { limitBytes, room, caller }: Pick<BodyOptions, 'limitBytes' | 'room' | 'caller'>,
): Promise<Buffer> {
  const encoding = encodingOf(ctx)
  const decoder = decoders[encoding] ?? (() => new PassThrough())
  const share = room.share(caller)
  try {
    return await readThrough(ctx, decoder(), { encoding, limitBytes, share })
  } finally {
    share.release()
  }
}

const decoders = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
  identity: null,
} satisfies Readonly<Record<string, (() => Transform) | null>>

type Encoding = keyof typeof decoders
const isEncoding = (text: string): text is Encoding => Object.hasOwn(decoders, text)

/** Refuses an unknown encoding before anything listens to the request. */
function encodingOf(ctx: Context): Encoding {
  const encoding = ctx.get('content-encoding').trim().toLowerCase() || 'identity'
  if (!isEncoding(encoding))
    throw new Refusal(
      'unsupported_media_type',
      'Unknown Content-Encoding; use gzip, deflate, br, zstd or none',
    )
  // koa-body is case-sensitive.
  ctx.req.headers['content-encoding'] = encoding
  return encoding
}

/** koa-body reads and counts; we parse the JSON ourselves, strictly and with helpful errors. */
async function readUnencoded(ctx: Context, limitBytes: number, share: Share): Promise<Buffer> {
  let reader = readers.get(limitBytes)
  if (!reader) {
    reader = koaBody({
      json: false,
      urlencoded: false,
      multipart: false,
      text: true,
      textTypes: ['json', '+json'],
      // No encoding: the bytes themselves.
      encoding: '',
      textLimit: limitBytes,
      patchNode: false,
      patchKoa: true,
      parsedMethods: ['POST', 'PUT', 'PATCH', 'DELETE'],
      onError: error => {
        throw toRefusal(error, limitBytes)
      },
    } as Parameters<typeof koaBody>[0])
    readers.set(limitBytes, reader)
  }
  const announced = Number(ctx.get('content-length') || Number.NaN)
  if (announced <= takenAtOnceBytes) {
    const full = share.take(announced)
    if (full) throw full
    await reader(ctx, noNext)
  } else await countWhile(ctx, share, () => reader(ctx, noNext))
  const { body } = ctx.request as { body?: unknown }
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}

/** Takes room for the bytes that arrive while `read` runs. */
async function countWhile(ctx: Context, share: Share, read: () => Promise<void>): Promise<void> {
  const reading = read()
  // After the reader's own listener, or the body would flow past it. An error makes it stop and drop the bytes it has
  // read.
  const count = (chunk: Buffer) => {
    const full = share.take(chunk.length)
    if (!full) return
    // The reader handles only the first error; a second one would crash the process.
    ctx.req.off('data', count)
    ctx.req.emit('error', full)
  }
  ctx.req.on('data', count)
  try {
    await reading
  } finally {
    // The reader may have refused before the body arrived; later bytes must not count.
    ctx.req.off('data', count)
  }
}

function toRefusal(error: Error & { status?: number; type?: string }, limitBytes: number): Error {
  if (error instanceof Refusal) return error
  if (error.status === 413 || error.type === 'entity.too.large') return tooLarge(limitBytes)
  if (error.status === 400 || 'code' in error)
    return new Refusal('invalid', `The body could not be read: ${error.message}`)
  return error
}

const tooLarge = (limitBytes: number) =>
  new Refusal('too_large', `The body exceeds ${limitBytes} bytes; send it in smaller parts`, {
    data: { limit_bytes: limitBytes },
  })

type Encoded = { encoding: string; limitBytes: number; share: Share }

async function readThrough(
  ctx: Context,
  decoder: Transform,
  { encoding, limitBytes, share }: Encoded,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  ctx.req.once('aborted', () => decoder.destroy(new Error('the request was aborted')))
  try {
    for await (const chunk of ctx.req.pipe(decoder)) {
      size += chunk.length
      if (size > limitBytes) throw tooLarge(limitBytes)
      const full = share.take(chunk.length)
      if (full) throw full
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal('invalid', `The body is not valid ${encoding}: ${(error as Error).message}`)
  }
  return Buffer.concat(chunks)
}
