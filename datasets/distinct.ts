/** Different rows up to which duplicates and overlaps are exact. */
export const maxDistinct = 3_000_000

const firstSlots = 1 << 16
const mostSlots = 1 << 22

/**
 * Counts rows by a hash of 64 bits of their content, and which splits have them. Takes at most 55 MB: beyond
 * `maxDistinct` different rows it keeps every second one, chosen by its hash, then every fourth, and so on, and
 * estimates from these.
 */
export class DistinctRows {
  #low = new Uint32Array(firstSlots)
  #high = new Uint32Array(firstSlots)
  #counts = new Uint32Array(firstSlots)
  #splits = new Uint8Array(firstSlots)
  #used = 0
  /** Only hashes whose upper half ends with that many zero bits are kept. */
  #shift = 0

  /** `split`: a number below 8. */
  add(low: number, high: number, split: number): void {
    if (this.#isLeftOut(high)) return
    this.#put(low, high, { count: 1, splits: 1 << split })
    const most = Math.min(this.#counts.length * 0.75, maxDistinct)
    if (this.#used <= most) return
    if (this.#counts.length === mostSlots) this.#shift++
    this.#rebuild(Math.min(this.#counts.length * 2, mostSlots))
  }

  get isEstimated(): boolean {
    return this.#shift > 0
  }

  duplicates(): number {
    let sum = 0
    for (const count of this.#counts) if (count > 1) sum += count - 1
    return sum * 2 ** this.#shift
  }

  /** Different rows that both splits have. */
  shared(one: number, other: number): number {
    const both = (1 << one) | (1 << other)
    let sum = 0
    for (const splits of this.#splits) if ((splits & both) === both) sum++
    return sum * 2 ** this.#shift
  }

  #isLeftOut(high: number): boolean {
    return (high & ((1 << this.#shift) - 1)) !== 0
  }

  #put(low: number, high: number, { count, splits }: { count: number; splits: number }): void {
    const last = this.#counts.length - 1
    let slot = low & last
    while (this.#counts[slot] !== 0 && (this.#low[slot] !== low || this.#high[slot] !== high))
      slot = (slot + 1) & last
    if (this.#counts[slot] === 0) this.#used++
    this.#low[slot] = low
    this.#high[slot] = high
    this.#counts[slot] = (this.#counts[slot] ?? 0) + count
    this.#splits[slot] = (this.#splits[slot] ?? 0) | splits
  }

  #rebuild(slots: number): void {
    const [low, high, counts, splits] = [this.#low, this.#high, this.#counts, this.#splits]
    this.#low = new Uint32Array(slots)
    this.#high = new Uint32Array(slots)
    this.#counts = new Uint32Array(slots)
    this.#splits = new Uint8Array(slots)
    this.#used = 0
    for (const [slot, count] of counts.entries())
      if (count > 0 && !this.#isLeftOut(high[slot] ?? 0))
        this.#put(low[slot] ?? 0, high[slot] ?? 0, { count, splits: splits[slot] ?? 0 })
  }
}

/** Hashes several texts into 64 bits. Two texts in a row differ from the same characters as one text. */
export class TextHash {
  low = 0
  high = 0

  start(): void {
    this.low = 0xdeadbeef | 0
    this.high = 0x41c6ce57 | 0
  }

  // The two lanes of cyrb53 (public domain, bryc), which are fast in JavaScript and spread well.
  add(text: string): void {
    let low = this.low
    let high = this.high
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      low = Math.imul(low ^ code, 2654435761)
      high = Math.imul(high ^ code, 1597334677)
    }
    this.low = Math.imul(low ^ text.length ^ 0x10000, 2654435761)
    this.high = Math.imul(high ^ text.length ^ 0x20000, 1597334677)
  }

  end(): void {
    const { low, high } = this
    this.low = mixed(low, high) >>> 0
    this.high = mixed(high, low) >>> 0
  }
}

const mixed = (one: number, other: number): number =>
  Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(other ^ (other >>> 13), 3266489909)
