import { rowFault } from '../../datasets/kinds.ts'
import { digestOf, sha256Hex } from '../../platform/digest.ts'
import {
  type ReflowCounts,
  type ReflowRule,
  reflowLimits,
  scrubKinds,
} from '../../schemas/reflows.ts'
import type { Candidate, Looked, RowKind } from './candidate.ts'
import { type Filter, filterOf } from './filter.ts'
import { nothingScrubbed, type Scrubbed, scrubber } from './scrub.ts'

export type Taken = Pick<Candidate, 'source' | 'kind' | 'at' | 'of' | 'sample'> & {
  row: Record<string, unknown>
  scrubbed: Scrubbed
  score: number | null
}

/** Rows and, for captured requests, how far they were read. */
export type Page = { looked: readonly Looked[]; reached: number | null }

/** The newest score of each sample by the rubric of the rule. */
export type ScoresOf = (samples: readonly string[]) => Promise<ReadonlyMap<string, number>>

export const emptyCounts = (): ReflowCounts => ({
  ...{ seen: 0, unreadable: 0, erased: 0, filtered: 0, unsampled: 0 },
  ...{ unscored: 0, duplicates: 0, taken: 0, scrubbed: nothingScrubbed() },
})

/**
 * Decides about rows one after the other; the same rows in the same order always end the same, so that a firing which is repeated
 * makes the same version.
 */
export class Taking {
  readonly counts = emptyCounts()
  readonly #rule: ReflowRule
  readonly #scoresOf: ScoresOf
  readonly #filter: Filter
  readonly #scrub: ReturnType<typeof scrubber>
  readonly #known = new Set<string>()
  #characters = 0

  constructor(rule: ReflowRule, scoresOf: ScoresOf) {
    this.#rule = rule
    this.#scoresOf = scoresOf
    this.#filter = filterOf(rule.source.type, rule.filter)
    this.#scrub = scrubber(rule.scrub)
  }

  /** Whether a version of these rows has no room for another page. */
  isFull(): boolean {
    const { rows, characters } = reflowLimits
    return this.counts.taken >= rows || this.#characters >= characters
  }

  /** The rows of a page that are taken. */
  async take(looked: readonly Looked[]): Promise<Taken[]> {
    const wanted = looked.filter(one => this.#isWanted(one)) as Candidate[]
    const scores = await this.#scores(wanted)
    return wanted.flatMap(one => this.#taken(one, scores) ?? [])
  }

  #isWanted(one: Looked): boolean {
    this.counts.seen++
    const fault = this.#faultOf(one)
    if (fault !== null) this.counts[fault]++
    return fault === null
  }

  #faultOf(one: Looked): 'unreadable' | 'erased' | 'filtered' | 'unsampled' | null {
    if (typeof one === 'string') return one
    if (!this.#filter(one)) return 'filtered'
    return shareOf(one.source) < this.#rule.sample_rate ? null : 'unsampled'
  }

  async #scores(wanted: readonly Candidate[]): Promise<ReadonlyMap<string, number>> {
    const samples = wanted.flatMap(({ sample }) => sample ?? [])
    return this.#rule.rubric === null || samples.length === 0
      ? new Map()
      : this.#scoresOf([...new Set(samples)])
  }

  #taken(one: Candidate, scores: ReadonlyMap<string, number>): Taken | null {
    const { rubric } = this.#rule
    const found = one.sample === null ? undefined : scores.get(one.sample)
    if (rubric !== null && (found === undefined || found < rubric.min_score)) {
      this.counts.unscored++
      return null
    }
    const scrubbed = nothingScrubbed()
    const row = deeply(one.row, text => this.#scrub(text, scrubbed)) as Record<string, unknown>
    // After scrubbing it may be no row any more.
    if (rowFault(one.kind, row) !== null) {
      this.counts.unreadable++
      return null
    }
    if (this.#isKnown(row)) {
      this.counts.duplicates++
      return null
    }
    const provenance = deeply(one.provenance, text => this.#scrub(text, nothingScrubbed()))
    const taken = { ...row, reflow: provenance, ...(rubric !== null && { score: found }) }
    this.counts.taken++
    for (const kind of scrubKinds) this.counts.scrubbed[kind] += scrubbed[kind]
    this.#characters += JSON.stringify(taken).length
    const { source, kind, at, of, sample } = one
    return { source, kind, at, of, sample, row: taken, scrubbed, score: found ?? null }
  }

  #isKnown(row: Record<string, unknown>): boolean {
    const { dedupe } = this.#rule
    if (dedupe === 'none') return false
    const digest = digestOf(dedupe === 'exact' ? row : promptOf(row))
    if (this.#known.has(digest)) return true
    this.#known.add(digest)
    return false
  }
}

/** Everything but the answer. */
function promptOf({ messages, prompt, text }: Record<string, unknown>): unknown {
  if (Array.isArray(messages)) return messages.slice(0, -1)
  return prompt ?? text ?? null
}

/** A number from 0 to 1, the same for the same source in every firing of every reflow. */
export const shareOf = (source: string): number =>
  Number.parseInt(sha256Hex(source).slice(0, 13), 16) / 2 ** 52

/** Also the names of fields, and numbers that become texts where something is found. */
function deeply(value: unknown, scrub: (text: string) => string): unknown {
  if (typeof value === 'string') return scrub(value)
  if (typeof value === 'number') {
    const text = String(value)
    const scrubbed = scrub(text)
    return scrubbed === text ? value : scrubbed
  }
  if (Array.isArray(value)) return value.map(one => deeply(one, scrub))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [scrub(name), deeply(one, scrub)]),
  )
}

export const kindOfRows = (rows: readonly Pick<Taken, 'kind'>[]): RowKind => rows[0]?.kind ?? 'chat'
