import { constants, crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Actor } from './event.ts'

/**
 * The facts reported by running code, and the purge of their run, with their codes on the log. Codes are never
 * reused.
 */
const codeOf = {
  'metrics.appended': 1,
  'logs.appended': 2,
  'logs.eof': 3,
  'hardware.appended': 4,
  'validation.received': 5,
  'run.purged': 6,
  'traffic.recorded': 7,
} as const

export type FactType = keyof typeof codeOf

/**
 * A report of running code, as the value of one log record. Facts are accepted without state and belong to no
 * stream: the log orders them. Their envelope is binary, because otherwise it would often be larger than its body.
 */
export type Fact = {
  type: FactType
  /** UUIDv7. */
  event_id: string
  /** Time of receipt, epoch milliseconds. */
  received_at_ms: number
  run_id: string
  /** The reporting attempt; null if the caller did not say. */
  attempt: number | null
  actor: Actor
  request_id: string
  /** A block of points for metrics, `encodeJson` for others. */
  body: Buffer
}

/** The content of a fact. Its reporter, time and request are added when it is appended to the log (`stampedFact`). */
export type UnstampedFact = Pick<Fact, 'type' | 'run_id' | 'attempt' | 'body'>

/** `now` is the time of receipt. */
export type FactStamp = { actor: Actor; requestId: string; now: Date }

export const stampedFact = (
  fact: UnstampedFact,
  { actor, requestId, now }: FactStamp,
  event_id: string,
): Fact => ({ ...fact, event_id, received_at_ms: now.getTime(), actor, request_id: requestId })

/** The bytes are not a fact: damaged, truncated, or of a version unknown to this build. */
export class CorruptFact extends Error {
  constructor(reason: string) {
    super(`fact cannot be read: ${reason}`)
    this.name = 'CorruptFact'
  }
}

const version = 1
const typeOf = new Map<number, FactType>(
  Object.entries(codeOf).map(([type, code]) => [code, type as FactType]),
)
const actorTypes = ['user', 'run', 'system'] as const

/**
 * Layout: version, CRC-32 of the rest, type, event id, time of receipt, attempt (0: none), actor's type; then four
 * short texts (run, actor's id and via, request), each preceded by its length in bytes; then the body.
 */
const at = {
  crc: 1,
  type: 5,
  id: 6,
  receivedAt: 22,
  attempt: 30,
  actorType: 34,
  texts: 35,
} as const

/** Each length is one byte; names of runs and actors are always shorter. */
const maxTextBytes = 255

export function encodeFact(fact: Fact): Buffer {
  const { actor, body } = fact
  const texts = [fact.run_id, actor.id, actor.via, fact.request_id].map(text => Buffer.from(text))
  const head = texts.reduce<number>((sum, text) => sum + 1 + text.length, at.texts)
  const bytes = Buffer.allocUnsafe(head + body.length)
  bytes[0] = version
  bytes[at.type] = codeOf[fact.type]
  writeId(bytes, fact.event_id)
  bytes.writeDoubleLE(fact.received_at_ms, at.receivedAt)
  bytes.writeUInt32LE(fact.attempt ?? 0, at.attempt)
  bytes[at.actorType] = actorTypes.indexOf(actor.type)
  let next: number = at.texts
  for (const text of texts) {
    if (text.length > maxTextBytes) throw new RangeError(`'${text}' is too long for a fact`)
    bytes[next] = text.length
    next += 1 + text.copy(bytes, next + 1)
  }
  body.copy(bytes, next)
  bytes.writeUInt32LE(checksum(bytes), at.crc)
  return bytes
}

/** Throws `CorruptFact` for anything that `encodeFact` did not write. The body shares memory with `bytes`. */
export function decodeFact(bytes: Buffer): Fact {
  if (bytes.length < at.texts) throw new CorruptFact('shorter than a header')
  if (bytes[0] !== version) throw new CorruptFact(`unknown version ${bytes[0]}`)
  if (bytes.readUInt32LE(at.crc) !== checksum(bytes)) throw new CorruptFact('the checksum differs')
  const type = typeOf.get(bytes.readUInt8(at.type))
  const actorType = actorTypes[bytes.readUInt8(at.actorType)]
  if (!type || !actorType) throw new CorruptFact('unknown type')
  const { texts, end } = readTexts(bytes)
  const [run_id = '', actorId = '', via = '', request_id = ''] = texts
  return {
    type,
    event_id: readId(bytes),
    received_at_ms: bytes.readDoubleLE(at.receivedAt),
    run_id,
    attempt: bytes.readUInt32LE(at.attempt) || null,
    actor: { type: actorType, id: actorId, via },
    request_id,
    body: bytes.subarray(end),
  }
}

/** Whether a record is the purge of its run; cheaper than decoding every record. */
export const isPurge = (bytes: Buffer): boolean =>
  bytes[0] === version && bytes[at.type] === codeOf['run.purged']

const checksum = (bytes: Buffer) => crc32(bytes.subarray(at.type), version)

function readTexts(bytes: Buffer): { texts: string[]; end: number } {
  const texts: string[] = []
  let next: number = at.texts
  while (texts.length < 4) {
    const end = next + 1 + (bytes[next] ?? bytes.length)
    if (end > bytes.length) throw new CorruptFact('it ends too early')
    texts.push(bytes.toString('utf8', next + 1, end))
    next = end
  }
  return { texts, end: next }
}

function writeId(bytes: Buffer, id: string): void {
  const written = bytes.write(id.replaceAll('-', ''), at.id, 'hex')
  if (written !== 16) throw new RangeError(`'${id}' is not a UUID`)
}

function readId(bytes: Buffer): string {
  const hex = bytes.toString('hex', at.id, at.id + 16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

const codec = { json: 0, zstdJson: 1 } as const
/** Compression costs about 25 µs however short the text is. */
const minCompressedBytes = 1024
/** Maximum expanded size, above every request limit. */
const maxJsonBytes = 128 * 1024 * 1024

/** Encodes a fact's body as JSON after a codec byte; with zstd if it is long. */
export function encodeJson(value: unknown): Buffer {
  const json = Buffer.from(JSON.stringify(value))
  if (json.length < minCompressedBytes) return Buffer.concat([Buffer.of(codec.json), json])
  const params = { [constants.ZSTD_c_compressionLevel]: 1 }
  return Buffer.concat([Buffer.of(codec.zstdJson), zstdCompressSync(json, { params })])
}

/** Throws `CorruptFact` for anything that `encodeJson` did not write. */
export function decodeJson(body: Buffer): unknown {
  const stored = body.subarray(1)
  try {
    if (body[0] === codec.json) return JSON.parse(stored.toString('utf8'))
    if (body[0] === codec.zstdJson)
      return JSON.parse(
        zstdDecompressSync(stored, { maxOutputLength: maxJsonBytes }).toString('utf8'),
      )
  } catch (cause) {
    throw new CorruptFact((cause as Error).message)
  }
  throw new CorruptFact(`unknown codec ${body[0]}`)
}
