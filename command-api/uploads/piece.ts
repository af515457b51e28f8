import { Refusal } from '../../platform/refusal.ts'

/** The part of an upload that a request sends; null only asks how much is here. */
export type Piece = { start: number; length: number }

type Headers = { get: (name: string) => string }

/**
 * Which bytes a `PUT` sends, by its headers, before anything of its body is read: all of them, those of `Content-Range: bytes
 * 10-99/100`, or with `bytes *\/100` and an empty body none (RFC 9110, 14.4 and 14.5).
 */
export function pieceOf(headers: Headers, size: number): Piece | null {
  const length = lengthOf(headers)
  const range = headers.get('content-range').trim()
  if (range === '') {
    if (length !== size) throw otherLength(length, size)
    return { start: 0, length }
  }
  const [, first, last, all] = /^bytes (?:(\d{1,15})-(\d{1,15})|\*)\/(\d{1,15})$/.exec(range) ?? []
  if (all === undefined || Number(all) !== size)
    throw new Refusal(
      'invalid',
      `Content-Range ${range} is not "bytes <first>-<last>/${size}", nor "bytes */${size}"`,
      { code: 'upload.range' },
    )
  if (first === undefined || last === undefined) {
    if (length !== 0) throw otherLength(length, 0)
    return null
  }
  return partOf(range, { start: Number(first), end: Number(last) }, { length, size })
}

function partOf(
  range: string,
  { start, end }: { start: number; end: number },
  { length, size }: { length: number; size: number },
): Piece {
  if (end < start || end >= size)
    throw new Refusal('invalid', `Content-Range ${range} is not within ${size} bytes`, {
      code: 'upload.range',
    })
  if (length !== end - start + 1) throw otherLength(length, end - start + 1)
  return { start, length }
}

export function lengthOf(headers: Headers): number {
  const length = headers.get('content-length')
  if (headers.get('transfer-encoding') !== '' || !/^\d{1,15}$/.test(length))
    throw new Refusal('length_required', 'An upload needs Content-Length: the number of its bytes')
  return Number(length)
}

/** A longer body is not read, and its connection ends. */
export const otherLength = (length: number, right: number) =>
  new Refusal(
    length > right ? 'too_large' : 'invalid',
    `The request has ${length} bytes; ${right} were announced`,
    { code: 'upload.length', data: { announced_bytes: right, sent_bytes: length } },
  )
