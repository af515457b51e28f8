import { maxOffsets, rowsPerOffset } from './bounds.ts'

/** Collects the offset of every so many rows; drops every second one when there are too many. */
export class Offsets {
  every = rowsPerOffset
  offsets: number[] = []
  #rows = 0

  row(offset: number): void {
    if (this.#rows++ % this.every !== 0) return
    if (this.offsets.length === maxOffsets) {
      this.offsets = this.offsets.filter((_, at) => at % 2 === 0)
      this.every *= 2
    }
    this.offsets.push(offset)
  }
}
