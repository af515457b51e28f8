import type { ReadRecord } from './event-log.ts'

/** The newest records of some lanes, all appended by this process. */
export type TailCache = {
  /** Adds records starting at `first`; if they do not continue the kept ones, they replace them. */
  add(lane: number, first: bigint, records: readonly ReadRecord[]): void
  /** At least one record from `from` on, up to `maxBytes`; empty if not cached. */
  take(lane: number, from: bigint, maxBytes: number): ReadRecord[]
  /** Drops records that no reader needs. */
  dropBefore(lane: number, offset: bigint): void
  readonly bytes: number
}

/** `records[0]` has offset `first`. */
type Tail = { first: bigint; records: ReadRecord[] }

/** Holds at most `limitBytes` of values; beyond it the longest tail loses its oldest records. */
export function createTailCache(limitBytes: number): TailCache {
  const tails = new Map<number, Tail>()
  let bytes = 0

  const drop = (tail: Tail, count: number) => {
    for (const { value } of tail.records.splice(0, count)) bytes -= value.length
    tail.first += BigInt(count)
  }
  const shrink = () => {
    while (bytes > limitBytes) {
      const longest = [...tails.values()].reduce((a, b) =>
        b.records.length > a.records.length ? b : a,
      )
      // Drops half at a time: removing single records from the front of a long array is slow.
      drop(longest, Math.ceil(longest.records.length / 2))
    }
  }

  return {
    get bytes() {
      return bytes
    },
    add(lane, first, records) {
      const tail = tails.get(lane) ?? { first, records: [] }
      tails.set(lane, tail)
      if (first !== tail.first + BigInt(tail.records.length)) {
        drop(tail, tail.records.length)
        tail.first = first
      }
      for (const record of records) {
        tail.records.push(record)
        bytes += record.value.length
      }
      shrink()
    },
    take(lane, from, maxBytes) {
      const tail = tails.get(lane)
      if (!tail || from < tail.first) return []
      const start = Number(from - tail.first)
      let end = start
      for (let taken = 0; end < tail.records.length; end++) {
        taken += tail.records[end]?.value.length ?? 0
        if (taken > maxBytes && end > start) break
      }
      return tail.records.slice(start, end)
    },
    dropBefore(lane, offset) {
      const tail = tails.get(lane)
      if (!tail || offset <= tail.first) return
      drop(tail, Math.min(Number(offset - tail.first), tail.records.length))
    },
  }
}
