import type { Overflow } from './overflow.ts'

export type OutputStream = 'stdout' | 'stderr'

/** Lines of one stream, in the order in which they were printed. */
export type Batch = { stream: OutputStream; lines: readonly string[] }

export type OutputQueue = {
  add(stream: OutputStream, line: string): void
  /** Removes the oldest lines, as many as one call carries; null if there are none. */
  next(): Batch | null
  /** Whether the next batch would be as large as a call may be. */
  hasFullBatch(): boolean
  /** Whether nothing more should be added for now. */
  isFull(): boolean
  /** How many lines were lost for lack of room. */
  lost(): number
  close(): void
}

export type QueueOptions = {
  overflow: Overflow
  /** Bytes allowed on disk. */
  diskBytes: number
  /** Bytes allowed in memory. */
  memoryBytes: number
  /** Whether the oldest lines are dropped beyond these limits. */
  mayDrop: () => boolean
}

/** Bytes and lines of one call, as JSON: the server accepts 1 MiB and 10,000. */
const batchBytes = 500_000
const batchLines = 5000

type Growing = { stream: OutputStream; lines: string[]; bytes: number }

/** Output that waits to be sent, from the oldest: in memory, on disk, in memory again where the disk is full, and a growing batch. */
export function openOutputQueue(options: QueueOptions): OutputQueue {
  const { overflow, diskBytes, memoryBytes, mayDrop } = options
  const first = batches()
  const late = batches()
  let growing: Growing | null = null
  let lost = 0
  let unreported = 0
  const lose = (lines: number) => {
    lost += lines
    unreported += lines
  }
  const fitsFirst = ({ bytes }: Growing) =>
    late.isEmpty() && overflow.isEmpty() && first.bytes() + bytes <= memoryBytes
  const dropOldest = () => {
    while (overflow.size() > diskBytes) lose(overflow.dropOldest())
    while (late.bytes() > memoryBytes) lose(late.shift()?.lines.length ?? 0)
  }
  const seal = () => {
    if (!growing) return
    const batch = growing
    growing = null
    if (fitsFirst(batch)) return first.push(batch)
    const isOnDisk = late.isEmpty() && keepOnDisk(overflow, batch)
    if (!isOnDisk) late.push(batch)
    if (mayDrop()) dropOldest()
  }
  const oldest = (): Batch | null => {
    const kept = first.shift()
    if (kept) return kept
    const text = overflow.shift()
    if (text !== null) return JSON.parse(text)
    const rest = late.shift() ?? growing
    if (rest === growing) growing = null
    return rest
  }
  return {
    add(stream, line) {
      const bytes = Buffer.byteLength(JSON.stringify(line)) + 1
      if (growing && !hasRoom(growing, stream, bytes)) seal()
      growing ??= { stream, lines: [], bytes: 0 }
      growing.lines.push(line)
      growing.bytes += bytes
    },
    next() {
      const batch = oldest()
      if (unreported === 0 || !batch) return batch
      const count = unreported.toLocaleString('en')
      unreported = 0
      const note = `[forge] ${count} lines of output left out: more was printed than could be kept`
      return { ...batch, lines: [note, ...batch.lines] }
    },
    hasFullBatch: () => !(first.isEmpty() && overflow.isEmpty() && late.isEmpty()),
    isFull: () => overflow.size() >= diskBytes || late.bytes() >= memoryBytes,
    lost: () => lost,
    close: () => overflow.close(),
  }
}

const hasRoom = (batch: Growing, stream: OutputStream, bytes: number): boolean =>
  batch.stream === stream && batch.lines.length < batchLines && batch.bytes + bytes <= batchBytes

function keepOnDisk(overflow: Overflow, { stream, lines }: Growing): boolean {
  try {
    overflow.push(JSON.stringify({ stream, lines }), lines.length)
    return true
  } catch {
    return false
  }
}

function batches() {
  const waiting: Growing[] = []
  let bytes = 0
  return {
    bytes: () => bytes,
    isEmpty: () => waiting.length === 0,
    push(batch: Growing) {
      waiting.push(batch)
      bytes += batch.bytes
    },
    shift(): Growing | undefined {
      const batch = waiting.shift()
      bytes -= batch?.bytes ?? 0
      return batch
    },
  }
}
