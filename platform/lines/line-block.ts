import { seal, unseal } from '../series/sealed.ts'
import {
  CorruptSeries,
  createReader,
  createWriter,
  maxVarintBytes,
  type Reader,
  readSigned,
  readText,
  readVarint,
  reserve,
  type Writer,
  writeSigned,
  writeText,
  writeVarint,
} from '../series/varint.ts'

/** The origin of lines; null if unknown. */
export type Labels = {
  attempt: number | null
  node: string | null
  rank: number | null
  stream: string
}

/** Lines of one origin and time (epoch milliseconds), without line breaks. */
export type Segment = Labels & { ts: number; lines: readonly string[] }

const version = 1
const zstdLevel = 1
/** Shorter blocks cost more to compress than they save. */
const compressFrom = 512
const maxBodyBytes = 16 * 1024 * 1024

/** Encodes one stored row of lines, in the order of their numbers. */
export function encodeLines(segments: readonly Segment[]): Buffer {
  const writer = createWriter(4096)
  reserve(writer, maxVarintBytes)
  writeVarint(writer, segments.length)
  let ts = 0
  for (const segment of segments) {
    writeLabels(writer, segment)
    reserve(writer, 2 * maxVarintBytes)
    writeSigned(writer, segment.ts - ts)
    writeVarint(writer, segment.lines.length)
    ts = segment.ts
  }
  const text = Buffer.from(segments.flatMap(({ lines }) => lines).join('\n'))
  const body = Buffer.concat([writer.bytes.subarray(0, writer.at), text])
  return seal(version, body, body.length < compressFrom ? null : zstdLevel)
}

/** Throws `CorruptSeries` for anything that `encodeLines` did not write. */
export function decodeLines(bytes: Buffer): Segment[] {
  const reader = createReader(unseal(version, bytes, maxBodyBytes))
  const count = readVarint(reader)
  if (count > reader.end) throw new CorruptSeries('it announces more data than it holds')
  const heads: { labels: Labels; ts: number; lines: number }[] = []
  let ts = 0
  for (let i = 0; i < count; i++) {
    const labels = readLabels(reader)
    ts += readSigned(reader)
    heads.push({ labels, ts, lines: readVarint(reader) })
  }
  const lines = reader.bytes.toString('utf8', reader.at, reader.end).split('\n')
  let from = 0
  const segments = heads.map(head => {
    const segment = { ...head.labels, ts: head.ts, lines: lines.slice(from, from + head.lines) }
    from += head.lines
    return segment
  })
  if (from !== lines.length && !(count === 0 && lines[0] === ''))
    throw new CorruptSeries('the lines do not add up')
  return segments
}

/** Whether a line of a stored row contains a text; also true if only a label does. */
export const holdsText = (bytes: Buffer, text: Buffer): boolean =>
  unseal(version, bytes, maxBodyBytes).includes(text)

function writeLabels(writer: Writer, { attempt, node, rank, stream }: Labels): void {
  reserve(writer, 3 * maxVarintBytes)
  writeVarint(writer, attempt === null ? 0 : attempt + 1)
  writeVarint(writer, rank === null ? 0 : rank + 1)
  writeVarint(writer, node === null ? 0 : 1)
  if (node !== null) writeText(writer, node)
  writeText(writer, stream)
}

function readLabels(reader: Reader): Labels {
  const attempt = readVarint(reader)
  const rank = readVarint(reader)
  const named = readVarint(reader)
  return {
    attempt: attempt === 0 ? null : attempt - 1,
    rank: rank === 0 ? null : rank - 1,
    node: named === 0 ? null : readText(reader),
    stream: readText(reader),
  }
}
