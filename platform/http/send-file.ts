import type { Readable } from 'node:stream'
import type { Context } from 'koa'
import { Refusal } from '../refusal.ts'
import { type Range, rangeOf } from './range.ts'

export type Sent = {
  size: number
  /** Opens the file, or a range of it; null if it has been removed meanwhile. */
  read: (range: Range | null) => Promise<Readable | null>
  /** The name under which clients should save it. */
  filename: string
  /** Changes with the content. */
  etag: string
}

/**
 * Responds with a file, or with the requested range of it. It is always a download: no browser shows or executes it.
 * Returns false if there is no such file.
 */
export async function sendFile(
  ctx: Context,
  { size, read, filename, etag }: Sent,
): Promise<boolean> {
  const headers = headersOf(filename, etag)
  if (matches(ctx.get('if-none-match'), etag)) {
    ctx.set(headers)
    ctx.status = 304
    return true
  }
  const range = rangeAskedFor(ctx, etag, size)
  const body = ctx.method === 'HEAD' || size === 0 ? '' : await read(range)
  if (body === null) return false
  const { first, last } = range ?? { first: 0, last: size - 1 }
  ctx.set(headers)
  ctx.status = range ? 206 : 200
  if (range) ctx.set('Content-Range', `bytes ${first}-${last}/${size}`)
  ctx.type = 'application/octet-stream'
  ctx.body = body
  ctx.length = last - first + 1
  return true
}

const headersOf = (filename: string, etag: string) => ({
  ETag: etag,
  'Accept-Ranges': 'bytes',
  'Content-Disposition': dispositionOf(filename),
  'Content-Security-Policy': "sandbox; default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
})

/** An ASCII name for old clients, and the exact one (RFC 6266, appendix D). */
function dispositionOf(filename: string): string {
  const plain = filename.replaceAll(/[^A-Za-z0-9._ -]/g, '_')
  const encoded = encodeURIComponent(filename.toWellFormed()).replaceAll(
    /['()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}

const matches = (header: string, etag: string): boolean =>
  header.split(',').some(one => [etag, '*'].includes(one.trim().replace(/^W\//, '')))

function rangeAskedFor(ctx: Context, etag: string, size: number): Range | null {
  const condition = ctx.get('if-range').trim()
  const range = condition === '' || condition === etag ? rangeOf(ctx.get('range'), size) : null
  if (range !== 'none') return range
  ctx.set('Content-Range', `bytes */${size}`)
  throw new Refusal('range_not_satisfiable', `The file has ${size} bytes`, {
    data: { size_bytes: size },
  })
}
