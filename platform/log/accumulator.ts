import type { EventLog, LogRecord, Position } from './event-log.ts'

export type AccumulatorOptions = {
  /** How long the first record of a flush waits for company, in milliseconds; default 2. */
  lingerMs?: number
  /** With so many bytes of values waiting nobody waits any longer; default 256 KiB. */
  flushBytes?: number
  /** Taken in and not yet acknowledged, over all topics; default 64 MiB. */
  maxUnackedBytes?: number
}

export type Accumulator = {
  /** Resolves after the log's acknowledgement. Throws `LogFull` at once where the bound is reached. */
  append(topic: string, record: LogRecord): Promise<Position>
  readonly unackedBytes: number
}

/** More is waiting for the log than may be kept in memory; the record was not taken. */
export class LogFull extends Error {
  constructor(maxUnackedBytes: number) {
    super(`more than ${maxUnackedBytes} bytes wait for the log`)
    this.name = 'LogFull'
  }
}

type Waiting = {
  record: LogRecord
  resolve: (position: Position) => void
  reject: (error: unknown) => void
}

type Lane = {
  waiting: Waiting[]
  waitingBytes: number
  isAppending: boolean
  timer: NodeJS.Timeout | null
  hasLingered: boolean
}

/**
 * Joins single records into few appends. A topic has one append under way at a time; the next leaves
 * when that one has returned and its first record has waited long enough, or is big enough.
 */
export function createAccumulator(log: EventLog, options: AccumulatorOptions = {}): Accumulator {
  const { lingerMs = 2, flushBytes = 256 * 1024, maxUnackedBytes = 64 * 1024 * 1024 } = options
  const lanes = new Map<string, Lane>()
  let unacked = 0

  const flushIfDue = (topic: string, lane: Lane): void => {
    if (lane.isAppending || lane.waiting.length === 0) return
    if (lane.hasLingered || lane.waitingBytes >= flushBytes) void flush(topic, lane)
  }

  const flush = async (topic: string, lane: Lane): Promise<void> => {
    const { waiting, waitingBytes } = lane
    if (lane.timer) clearTimeout(lane.timer)
    Object.assign(lane, emptyLane(), { isAppending: true })
    try {
      const positions = await log.append(
        topic,
        waiting.map(({ record }) => record),
      )
      for (const [index, { resolve, reject }] of waiting.entries()) {
        const position = positions[index]
        if (position) resolve(position)
        else reject(new Error(`the log answered ${positions.length} positions`))
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    } finally {
      unacked -= waitingBytes
      lane.isAppending = false
      flushIfDue(topic, lane)
    }
  }

  return {
    get unackedBytes() {
      return unacked
    },
    append(topic, record) {
      const bytes = record.value.length
      if (unacked + bytes > maxUnackedBytes) throw new LogFull(maxUnackedBytes)
      unacked += bytes
      const lane = lanes.get(topic) ?? emptyLane()
      lanes.set(topic, lane)
      return new Promise((resolve, reject) => {
        lane.waiting.push({ record, resolve, reject })
        lane.waitingBytes += bytes
        lane.timer ??= setTimeout(() => {
          lane.hasLingered = true
          flushIfDue(topic, lane)
        }, lingerMs)
        flushIfDue(topic, lane)
      })
    },
  }
}

const emptyLane = (): Lane => ({
  waiting: [],
  waitingBytes: 0,
  isAppending: false,
  timer: null,
  hasLingered: false,
})
