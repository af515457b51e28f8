import type { Context } from 'koa'
import type { ObjectStore } from '../../platform/objects/port.ts'
import { textLock } from '../../platform/postgres/locks.ts'
import { withLock } from '../../platform/postgres/with-lock.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Deps } from '../deps.ts'
import { lengthOf, otherLength } from './piece.ts'
import type { UploadRow } from './rows.ts'

const leastBytes = 5 * 1024 * 1024
/** How many missing parts a refusal names. */
const maxNamed = 100
/** How long one request waits while another puts the same parts together, in milliseconds. */
const waitMs = 60_000

/** The part size for a file announced with at most this many parts. */
export const partSizeOf = (size: number, wanted: number): number =>
  Math.max(leastBytes, Math.ceil(size / wanted))

const countOf = (size: number, partSize: number) => Math.ceil(size / partSize)

export const numbersOf = (size: number, partSize: number): number[] =>
  Array.from({ length: countOf(size, partSize) }, (_, index) => index + 1)

/** Each part arrives under its own id, until all are here. */
const idOf = (upload_id: string, n: number) => `${upload_id}_${n}`

/** The upload that an arrival id belongs to. */
export const uploadOf = (id: string): string => id.replace(/^(.{26,})_\d{1,5}$/, '$1')

const lengthOfPart = (size: number, partSize: number, n: number) =>
  Math.min(partSize, size - (n - 1) * partSize)

/** Receives a whole part; returns how many of its bytes have arrived. */
export async function receivePart(
  store: ObjectStore,
  { upload_id, size_bytes, part_size }: UploadRow,
  n: number,
  ctx: Context,
): Promise<number> {
  const count = part_size === null ? 0 : countOf(size_bytes, part_size)
  if (part_size === null || n > count)
    throw new Refusal('invalid', `There is no part ${n}: the file has ${count} parts`, {
      code: 'upload.part',
    })
  if (ctx.get('content-range') !== '')
    throw new Refusal('invalid', 'A part must be sent whole, without Content-Range', {
      code: 'upload.range',
    })
  const right = lengthOfPart(size_bytes, part_size, n)
  const length = lengthOf(ctx)
  if (length !== right) throw otherLength(length, right)
  return store.receive(idOf(upload_id, n), 0, ctx.req)
}

/**
 * Puts the parts together if the file was sent in parts and is not whole yet. Idempotent, and continues where it was
 * interrupted: the parts stay until the file is registered. Refuses with 409 and the missing parts.
 */
export async function joinParts(
  { pool }: Pick<Deps, 'pool'>,
  store: ObjectStore,
  { upload_id, size_bytes, part_size }: UploadRow,
): Promise<void> {
  if (part_size === null) return
  const lock = textLock(`parts of ${upload_id}`)
  await withLock(pool, { lock, waitMs }, async (_, lost) => {
    const here = await store.received(upload_id)
    if (here === size_bytes) return
    const numbers = numbersOf(size_bytes, part_size)
    const lacking = await lackingOf(store, { upload_id, size_bytes, part_size, numbers })
    if (lacking.length > 0) throw missing(lacking)
    for (const n of numbers.slice(Math.floor(here / part_size))) {
      lost.throwIfAborted()
      const part = await store.arrived(idOf(upload_id, n))
      if (part === null) throw missing([n])
      await store.receive(upload_id, (n - 1) * part_size, part)
    }
  })
}

type Parted = { upload_id: string; size_bytes: number; part_size: number; numbers: number[] }

async function lackingOf(
  store: ObjectStore,
  { upload_id, size_bytes, part_size, numbers }: Parted,
): Promise<number[]> {
  const lacking: number[] = []
  for (const n of numbers)
    if ((await store.received(idOf(upload_id, n))) !== lengthOfPart(size_bytes, part_size, n))
      lacking.push(n)
  return lacking
}

const missing = (numbers: readonly number[]) =>
  new Refusal(
    'conflict',
    `${numbers.length === 1 ? `Part ${numbers[0]} is` : `${numbers.length} parts are`} missing; send the missing parts, then complete it again`,
    { code: 'upload.parts_missing', data: { missing: numbers.slice(0, maxNamed) } },
  )

export async function removeParts(
  store: ObjectStore,
  { upload_id, size_bytes, part_size }: UploadRow,
): Promise<void> {
  if (part_size === null) return
  for (const n of numbersOf(size_bytes, part_size)) await store.removePart(idOf(upload_id, n))
}
