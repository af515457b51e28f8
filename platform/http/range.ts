/** Bytes of a file, the last one included. */
export type Range = { first: number; last: number }

/**
 * What a `Range` asks for (RFC 9110, 14.2): null means the whole file, which also answers what is malformed or names
 * several ranges; `none` that the file has no such bytes.
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
