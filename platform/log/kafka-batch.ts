import { crc32c } from './crc32c.ts'
import type { LogRecord } from './event-log.ts'

// The body of a produce request (Kafka protocol, "Produce", version 7) in one buffer of the right size.
// kafkajs builds it out of nested buffers and copies every value eight times, four times the cost.

export type ProducePart = {
  topic: string
  partition: number
  firstSequence: number
  records: readonly LogRecord[]
}

export type ProduceRequest = {
  /** How long the broker waits for all replicas, in milliseconds. */
  timeoutMs: number
  producerId: bigint
  producerEpoch: number
  /** Milliseconds since 1970. */
  now: number
  parts: readonly ProducePart[]
}

/** Header of a batch, including the number of records. */
const batchHeaderBytes = 61
/** Header bytes outside the checksum: first offset, length, leader epoch, magic, checksum. */
const uncheckedBytes = 21
const allReplicas = -1

export function encodeProduce({ timeoutMs, parts, ...stamp }: ProduceRequest): Buffer {
  const topics = [...Map.groupBy(parts, ({ topic }) => topic)]
  const sized = topics.map(([topic, ofTopic]) => ({
    topic,
    parts: ofTopic.map(part => ({ ...part, bytes: batchBytes(part.records) })),
  }))
  const to = createWriter(
    12 +
      sized.reduce(
        (sum, { topic, parts }) =>
          sum + 6 + Buffer.byteLength(topic) + parts.reduce((all, { bytes }) => all + 8 + bytes, 0),
        0,
      ),
  )
  to.int16(-1) // not part of a transaction
  to.int16(allReplicas)
  to.int32(timeoutMs)
  to.int32(sized.length)
  for (const { topic, parts } of sized) {
    to.int16(Buffer.byteLength(topic))
    to.text(topic)
    to.int32(parts.length)
    for (const part of parts) {
      to.int32(part.partition)
      to.int32(part.bytes)
      writeBatch(to, part, part.bytes, stamp)
    }
  }
  return to.done()
}

type Stamp = Pick<ProduceRequest, 'producerId' | 'producerEpoch' | 'now'>

/** Format 2 of batches and records (Kafka, "Implementation / Message format"), not compressed. */
function writeBatch(to: Writer, part: ProducePart, bytes: number, stamp: Stamp): void {
  const { records, firstSequence } = part
  const start = to.position()
  to.int64(0n) // the broker gives the offset
  to.int32(bytes - 12)
  to.int32(-1) // leader epoch: the broker's
  to.int8(2)
  to.int32(0) // the checksum, when the rest is there
  to.int16(0) // attributes: not compressed, time of creation
  to.int32(records.length - 1)
  to.int64(BigInt(stamp.now))
  to.int64(BigInt(stamp.now))
  to.int64(stamp.producerId)
  to.int16(stamp.producerEpoch)
  to.int32(firstSequence)
  to.int32(records.length)
  for (const [nth, record] of records.entries()) writeRecord(to, record, nth)
  to.checksum(start + uncheckedBytes - 4, start + uncheckedBytes)
}

function writeRecord(to: Writer, record: LogRecord, nth: number): void {
  const headers = Object.entries(record.headers ?? {})
  to.varint(recordBodyBytes(record, nth))
  to.int8(0)
  to.varint(0) // milliseconds after the batch's time
  to.varint(nth)
  to.sizedText(record.key)
  to.varint(record.value.length)
  to.bytes(record.value)
  to.varint(headers.length)
  for (const [name, text] of headers) {
    to.sizedText(name)
    to.sizedText(text)
  }
}

function batchBytes(records: readonly LogRecord[]): number {
  let bytes = batchHeaderBytes
  for (const [nth, record] of records.entries()) {
    const body = recordBodyBytes(record, nth)
    bytes += varintBytes(body) + body
  }
  return bytes
}

function recordBodyBytes({ key, value, headers = {} }: LogRecord, nth: number): number {
  const entries = Object.entries(headers)
  let bytes = 2 + varintBytes(nth) + sizedTextBytes(key) + varintBytes(value.length) + value.length
  bytes += varintBytes(entries.length)
  for (const [name, text] of entries) bytes += sizedTextBytes(name) + sizedTextBytes(text)
  return bytes
}

function sizedTextBytes(text: string): number {
  const bytes = Buffer.byteLength(text)
  return varintBytes(bytes) + bytes
}

/** Size of a non-negative number as a zigzag varint: seven bits per byte. */
function varintBytes(value: number): number {
  let bytes = 1
  for (let rest = value * 2; rest > 127; rest = Math.floor(rest / 128)) bytes++
  return bytes
}

type Writer = ReturnType<typeof createWriter>

function createWriter(size: number) {
  const buffer = Buffer.allocUnsafe(size)
  let at = 0
  const varint = (value: number) => {
    let rest = value * 2
    for (; rest > 127; rest = Math.floor(rest / 128)) at = buffer.writeUInt8((rest % 128) | 128, at)
    at = buffer.writeUInt8(rest, at)
  }
  const text = (value: string) => {
    at += buffer.write(value, at)
  }
  return {
    position: () => at,
    int8: (value: number) => {
      at = buffer.writeInt8(value, at)
    },
    int16: (value: number) => {
      at = buffer.writeInt16BE(value, at)
    },
    int32: (value: number) => {
      at = buffer.writeInt32BE(value, at)
    },
    int64: (value: bigint) => {
      at = buffer.writeBigInt64BE(value, at)
    },
    bytes: (value: Buffer) => {
      at += value.copy(buffer, at)
    },
    varint,
    text,
    sizedText: (value: string) => {
      varint(Buffer.byteLength(value))
      text(value)
    },
    /** Writes the checksum of everything since `from` at `place`. */
    checksum: (place: number, from: number) => {
      buffer.writeUInt32BE(crc32c(buffer.subarray(from, at)), place)
    },
    done: () => {
      if (at !== size) throw new Error(`a produce request of ${size} bytes came out as ${at}`)
      return buffer
    },
  }
}
