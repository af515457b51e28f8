/** Maximum size of one event, in bytes as JSON; each item must be far smaller. */
const maxPartBytes = 256 * 1024

export const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

/** Cuts a list into parts, each small enough for one event. */
export function cutByBytes<T>(items: readonly T[]): T[][] {
  const parts: T[][] = []
  let room = 0
  for (const item of items) {
    const bytes = bytesOf(item)
    if (bytes > room || parts.length === 0) {
      parts.push([])
      room = maxPartBytes
    }
    parts.at(-1)?.push(item)
    room -= bytes
  }
  return parts
}
