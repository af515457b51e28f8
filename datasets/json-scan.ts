const quote = 0x22
const backslash = 0x5c
const colon = 0x3a

/**
 * How deep a JSON text is nested, and how many keys it has. Looks at bytes only, so that it is fast and needs no
 * memory; the text need not be valid.
 */
export function scanJson(bytes: Buffer): { depth: number; keys: number } {
  let depth = 0
  let deepest = 0
  let keys = 0
  for (let at = 0; at < bytes.length; at++)
    switch (meanings[bytes[at] ?? 0]) {
      case Meaning.quote:
        at = endOfString(bytes, at)
        break
      case Meaning.colon:
        keys++
        break
      case Meaning.opening:
        deepest = Math.max(deepest, ++depth)
        break
      case Meaning.closing:
        depth--
    }
  return { depth: deepest, keys }
}

const Meaning = { quote: 1, colon: 2, opening: 3, closing: 4 } as const

const meanings = new Uint8Array(256)
meanings[quote] = Meaning.quote
meanings[colon] = Meaning.colon
for (const bracket of Buffer.from('[{')) meanings[bracket] = Meaning.opening
for (const bracket of Buffer.from(']}')) meanings[bracket] = Meaning.closing

/** The place of the quote that closes a string, or the end of the bytes. */
function endOfString(bytes: Buffer, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return at
}

/** Keys of a parsed text. Fewer than `scanJson` counts: one of them is there twice, and `JSON.parse` kept the last. */
export function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) count += countKeys(item)
    return count
  }
  const record = value as Record<string, unknown>
  for (const key in record) count += 1 + countKeys(record[key])
  return count
}

/** The first key that an object of this valid JSON text has twice. */
export function repeatedKey(text: string): string | null {
  const seen: Set<string>[] = []
  const tokens = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}]/gs
  for (const [token, isKey] of text.matchAll(tokens)) {
    if (token === '{') seen.push(new Set())
    else if (token === '}') seen.pop()
    else if (isKey !== undefined) {
      const key = JSON.parse(token.slice(0, -isKey.length))
      if (seen.at(-1)?.has(key)) return key
      seen.at(-1)?.add(key)
    }
  }
  return null
}
