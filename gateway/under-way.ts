/** Requests under way of one deployment, or to one of its engines. */
export type Load = {
  /** The id of the deployment or of the engine. */
  subject: string
  in_flight: number
  /** The average since the previous reading. */
  concurrency: number
}

type Entry = { count: number; at: number; area: number }

/** How many requests are under way, by deployment and by engine. `clock`: milliseconds that never go back. */
export class UnderWay {
  readonly #clock: () => number
  readonly #entries = new Map<string, Entry>()
  #takenAt: number

  constructor(clock: () => number) {
    this.#clock = clock
    this.#takenAt = clock()
  }

  of(id: string): number {
    return this.#entries.get(id)?.count ?? 0
  }

  add(id: string, by: number): void {
    const entry = this.#entries.get(id) ?? { count: 0, at: this.#clock(), area: 0 }
    this.#entries.set(id, upTo(entry, this.#clock(), by))
  }

  /** Everything that had a request since the last call; entries that have become idle are listed once more, with 0. */
  take(): Load[] {
    const now = this.#clock()
    const elapsed = Math.max(1, now - this.#takenAt)
    this.#takenAt = now
    return [...this.#entries].map(([subject, entry]) => {
      const { count, area } = upTo(entry, now, 0)
      if (count === 0) this.#entries.delete(subject)
      else this.#entries.set(subject, { count, at: now, area: 0 })
      return { subject, in_flight: count, concurrency: area / elapsed }
    })
  }
}

const upTo = ({ count, at, area }: Entry, now: number, by: number): Entry => ({
  ...{ count: count + by, at: now, area: area + count * (now - at) },
})
