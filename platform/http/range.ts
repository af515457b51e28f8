/** A range of bytes of a file, inclusive at both ends. */
export type Range = { first: number; last: number }

/**
 * The requested `Range` (RFC 9110, 14.2). Null: the whole file, which is also the response to a malformed header or
 * to several ranges; `none`: the file has no such bytes.
 */
export function rangeOf(header: string, size: number): Range | null | 'none' {
  const [, from, to] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header.trim()) ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return null
  if (from === '') return lastBytes(Number(to), size)
  const first = Number(from)
  if (to !== '' && Number(to) < first) return null
  if (first >= size) return 'none'
  return { first, last: to === '' ? size - 1 : Math.min(Number(to), size - 1) }
}

const lastBytes = (count: number, size: number): Range | 'none' =>
  count === 0 || size === 0 ? 'none' : { first: Math.max(0, size - count), last: size - 1 }
