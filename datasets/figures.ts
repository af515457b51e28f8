import { maxFields } from './bounds.ts'
import { DistinctRows, TextHash } from './distinct.ts'
import { eachText } from './kinds.ts'
import type { DatasetReport, Kind, Lengths, SplitFigures } from './report.ts'
import type { CountTokens } from './tokens.ts'

/** Null to count no tokens. */
export type TokenCounter = { name: string; count: CountTokens } | null

/** Sums up the rows of a dataset. */
export class Figures {
  rows = 0
  readonly #splits = new Map<string, SplitFigures & { place: number }>()
  readonly #schema = new Map<string, Set<string>>()
  readonly #lengths = new LengthHistogram()
  readonly #distinct = new DistinctRows()
  readonly #hash = new TextHash()
  readonly #counter: TokenCounter
  #tokens = 0

  constructor(counter: TokenCounter) {
    this.#counter = counter
  }

  /** Before the rows of a file. At most `maxSplits` different splits. */
  file(split: string, bytes: number): void {
    const figures = this.#splits.get(split) ?? { rows: 0, bytes: 0, place: this.#splits.size }
    this.#splits.set(split, { ...figures, bytes: figures.bytes + bytes })
  }

  row(split: string, kind: Kind, row: Record<string, unknown>): void {
    this.rows++
    const figures = this.#splits.get(split)
    if (!figures) throw new Error(`no file of the split ${split}`)
    figures.rows++
    this.#fields(row)
    let characters = 0
    this.#hash.start()
    eachText(kind, row, (text, isText) => {
      this.#hash.add(text)
      if (!isText) return
      characters += text.length
      if (this.#counter) this.#tokens += this.#counter.count(text)
    })
    this.#hash.end()
    this.#lengths.add(characters)
    this.#distinct.add(this.#hash.low, this.#hash.high, figures.place)
  }

  report(): Pick<
    DatasetReport,
    'rows' | 'splits' | 'schema' | 'lengths' | 'duplicates' | 'overlap' | 'estimated' | 'tokens'
  > {
    return {
      rows: this.rows,
      splits: Object.fromEntries(
        [...this.#splits].map(([split, { rows, bytes }]) => [split, { rows, bytes }]),
      ),
      schema: Object.fromEntries(
        [...this.#schema].map(([field, types]) => [field, [...types].sort().join('|')]),
      ),
      lengths: this.#lengths.report(),
      duplicates: this.#distinct.duplicates(),
      overlap: this.#overlap(),
      estimated: this.#distinct.isEstimated,
      tokens: this.#counter ? { [this.#counter.name]: this.#tokens } : {},
    }
  }

  #fields(row: Record<string, unknown>): void {
    for (const field in row) {
      const type = typeOf(row[field])
      const types = this.#schema.get(field)
      if (types) types.add(type)
      else if (this.#schema.size < maxFields) this.#schema.set(field, new Set([type]))
    }
  }

  #overlap(): DatasetReport['overlap'] {
    const splits = [...this.#splits.keys()]
    return splits.flatMap((one, at) =>
      splits.slice(at + 1).flatMap((other, after) => {
        const rows = this.#distinct.shared(at, at + 1 + after)
        return rows === 0 ? [] : [{ splits: [one, other] as [string, string], rows }]
      }),
    )
  }
}

function typeOf(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

/** Buckets by powers of two. */
class LengthHistogram {
  readonly #buckets = new Array<number>(33).fill(0)
  #rows = 0
  #sum = 0
  #min = Number.POSITIVE_INFINITY
  #max = 0

  add(length: number): void {
    const bucket = 32 - Math.clz32(length)
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1
    this.#rows++
    this.#sum += length
    this.#min = Math.min(this.#min, length)
    this.#max = Math.max(this.#max, length)
  }

  report(): Lengths {
    if (this.#rows === 0) return { min: 0, mean: 0, max: 0, buckets: [] }
    const first = this.#buckets.findIndex(rows => rows > 0)
    const last = this.#buckets.findLastIndex(rows => rows > 0)
    return {
      min: this.#min,
      mean: this.#sum / this.#rows,
      max: this.#max,
      buckets: this.#buckets
        .slice(first, last + 1)
        .map((rows, at) => ({ below: 2 ** (first + at), rows })),
    }
  }
}
