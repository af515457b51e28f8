import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'

/**
 * Identifies a write: the version of a stream, or the offset of the log, that the read models must have reached. In
 * base64url: `s:<version>:<stream>` or `l:<topic>:<partition>:<offset>`. People get it sealed, in `Forge-Position`, and
 * send it back in `Forge-Wait-For`.
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

/** Binds each position to its holder. */
export type PositionSeal = {
  seal(position: string, holder: string): string
  /** The position; null for other people's and made-up positions, which would reveal whether a stream exists. */
  open(sealed: string, holder: string): string | null
}

const macBytes = 16

/** `<position>.<HMAC of holder and position>`, the first 128 bits of SHA-256. `key`: the same in every process. */
export function positionSeal(key: Buffer): PositionSeal {
  // With raw bytes, each HMAC would build its own key object, which takes longer than everything else in it.
  const prepared = createSecretKey(key)
  const macOf = (position: string, holder: string) =>
    createHmac('sha256', prepared).update(`${holder}\0${position}`).digest().subarray(0, macBytes)
  return {
    seal: (position, holder) => `${position}.${macOf(position, holder).toString('base64url')}`,
    open(sealed, holder) {
      const [position = '', mac = '', ...rest] = sealed.length > maxLength ? [] : sealed.split('.')
      const given = Buffer.from(mac, 'base64url')
      if (rest.length > 0 || given.length !== macBytes) return null
      return timingSafeEqual(given, macOf(position, holder)) ? position : null
    },
  }
}

const pack = (text: string): string => Buffer.from(text).toString('base64url')
