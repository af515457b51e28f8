import type { ParquetParsers } from 'hyparquet'
import { InvalidText } from './messages.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Text that is not UTF-8 must not become text. */
export const parsers: Partial<ParquetParsers> = {
  stringFromBytes: bytes => {
    if (!bytes) return null
    try {
      return decoder.decode(bytes)
    } catch {
      return new InvalidText()
    }
  },
}

/** A row whose values JSON has as well. */
export const plainRow = (row: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(row).map(([field, value]) => [field, plain(value)]))

/** Integers beyond 2^53 become text, bytes an object with their base64, and instants ISO 8601. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return safe(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  return typeof value === 'object' && value !== null ? plainObject(value) : (value ?? null)
}

function plainObject(value: object): unknown {
  if (value instanceof InvalidText) return value
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString('base64') }
  if (Array.isArray(value)) return value.map(plain)
  return plainRow(value as Record<string, unknown>)
}

const safe = (value: bigint) =>
  value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
    ? Number(value)
    : value.toString()
