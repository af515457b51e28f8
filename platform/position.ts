/**
 * Identifies a write, in the headers `Forge-Position` and `Forge-Wait-For`; opaque to clients. It is the version of a
 * stream, or an offset of the log, that the read models must have reached. In base64url: `s:<version>:<stream>` or
 * `l:<topic>:<partition>:<offset>`.
 */
export type ForgePosition =
  | { kind: 'stream'; stream: string; version: number }
  | { kind: 'log'; topic: string; partition: number; offset: bigint }

/** Longer texts are not positions. */
const maxLength = 4096

export const streamPosition = (stream: string, version: number): string =>
  pack(`s:${version}:${stream}`)

export const logPosition = (at: { topic: string; partition: number; offset: bigint }): string =>
  pack(`l:${at.topic}:${at.partition}:${at.offset}`)

/** Null if the text is not a position. */
export function parsePosition(position: string): ForgePosition | null {
  if (position.length > maxLength) return null
  const text = Buffer.from(position, 'base64url').toString('utf8')
  // PostgreSQL refuses texts with a NUL.
  if (text.includes('\0')) return null
  const stream = /^s:(\d{1,9}):(.+)$/s.exec(text)
  if (stream) return { kind: 'stream', version: Number(stream[1]), stream: String(stream[2]) }
  const log = /^l:([\w.-]+):(\d{1,6}):(\d{1,15})$/.exec(text)
  if (!log) return null
  return {
    kind: 'log',
    topic: String(log[1]),
    partition: Number(log[2]),
    offset: BigInt(String(log[3])),
  }
}

const pack = (text: string): string => Buffer.from(text).toString('base64url')
