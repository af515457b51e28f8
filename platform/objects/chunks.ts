/** Collects bytes into buffers of one size. */
export class Chunks {
  readonly #bytes: number
  #waiting: Buffer[] = []
  #length = 0

  constructor(bytes: number) {
    this.#bytes = bytes
  }

  /** Returns the buffers that are full now. */
  *add(chunk: Buffer): Iterable<Buffer> {
    let rest = chunk
    while (this.#length + rest.length >= this.#bytes) {
      const taken = this.#bytes - this.#length
      this.#waiting.push(rest.subarray(0, taken))
      rest = rest.subarray(taken)
      yield this.rest()
    }
    if (rest.length === 0) return
    this.#waiting.push(rest)
    this.#length += rest.length
  }

  /** Returns the rest. */
  rest(): Buffer {
    const all = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#length = 0
    return all
  }
}
