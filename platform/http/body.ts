import { createZstdDecompress } from 'node:zlib'
import type { Context, Middleware } from 'koa'
import { koaBody } from 'koa-body'
import { Refusal } from '../refusal.ts'
import { parseJson } from './json.ts'

const readers = new Map<number, Middleware>()
const noNext = async () => {}

/**
 * Reads a JSON body of at most `limitBytes` after decompression (`gzip`, `deflate`, `br`, `zstd`).
 * Refuses 413 past the limit and 415 for another content type; malformed JSON is `Invalid`.
 */
export async function readJsonBody(
  ctx: Context,
  limitBytes: number,
  flat: boolean,
): Promise<unknown> {
  if (ctx.get('content-type') !== '' && !ctx.is('json', '+json'))
    throw new Refusal(
      'unsupported_media_type',
      `Content-Type ${ctx.get('content-type')} is not accepted here; send application/json`,
    )
  if (ctx.get('content-type') === '') ctx.req.headers['content-type'] = 'application/json'
  const text =
    ctx.get('content-encoding') === 'zstd'
      ? await readZstd(ctx, limitBytes)
      : await readText(ctx, limitBytes)
  return parseJson(text, flat)
}

/** koa-body inflates and counts; the JSON is parsed by us, strictly and with errors that help. */
async function readText(ctx: Context, limitBytes: number): Promise<string> {
  let reader = readers.get(limitBytes)
  if (!reader) {
    reader = koaBody({
      json: false,
      urlencoded: false,
      multipart: false,
      text: true,
      textTypes: ['json', '+json'],
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
  await reader(ctx, noNext)
  const { body } = ctx.request as { body?: unknown }
  return typeof body === 'string' ? body : ''
}

function toRefusal(error: Error & { status?: number; type?: string }, limitBytes: number): Error {
  if (error.status === 413 || error.type === 'entity.too.large') return tooLarge(limitBytes)
  if (error.status === 415)
    return new Refusal(
      'unsupported_media_type',
      'Unknown Content-Encoding; use gzip, deflate, br, zstd or none',
    )
  if (error.status === 400 || 'code' in error)
    return new Refusal('invalid', `The body could not be read: ${error.message}`)
  return error
}

const tooLarge = (limitBytes: number) =>
  new Refusal('too_large', `The body exceeds ${limitBytes} bytes; send it in smaller parts`, {
    data: { limit_bytes: limitBytes },
  })

async function readZstd(ctx: Context, limitBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of ctx.req.pipe(createZstdDecompress())) {
      size += chunk.length
      if (size > limitBytes) throw tooLarge(limitBytes)
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal('invalid', `The body is not valid zstd: ${(error as Error).message}`)
  }
  return Buffer.concat(chunks).toString('utf8')
}
