import type { EventLog, LogRecord, Position } from './event-log.ts'

export type AccumulatorOptions = {
  /** How long the first record of a flush waits for others, in milliseconds; default 2. */
  lingerMs?: number
  /** Flushes without waiting once this many bytes of values are waiting; default 256 KiB. */
  flushBytes?: number
  /** Bound of accepted but unacknowledged bytes over all topics; default 64 MiB. */
  maxUnackedBytes?: number
}

export type Accumulator = {
  /** Resolves after the log's acknowledgement. Throws `LogFull` at once if the bound is reached. */
  append(topic: string, record: LogRecord): Promise<Position>
  readonly unackedBytes: number
}

/** The memory bound for unacknowledged records is reached; the record was not accepted. */
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
 * Joins single records into few appends. A topic has one append in flight at a time; the next starts when that one
 * has returned and the waiting records are old or large enough.
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
