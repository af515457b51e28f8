/** Longest text of a sample, in bytes (UTF-8). */
export const maxTextBytes = 256 * 1024

/** The text, or its beginning and a mark if it is longer than the limit. Never cuts a character in half. */
export function cutText(text: string): string {
  // A UTF-16 unit takes at most three bytes.
  if (text.length * 3 <= maxTextBytes) return text
  const bytes = Buffer.from(text)
  if (bytes.length <= maxTextBytes) return text
  let end = maxTextBytes
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return `${bytes.toString('utf8', 0, end)}[… cut: ${bytes.length} bytes, the first ${end} are kept]`
}

/** A value of any shape whose JSON fits the limit; a longer one becomes the beginning of that JSON, with the mark. */
export function cutValue(value: unknown): unknown {
  if (typeof value === 'string') return cutText(value)
  const json = JSON.stringify(value)
  const cut = cutText(json)
  return cut === json ? value : cut
}
