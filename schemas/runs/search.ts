/**
 * The search of `GET /api/runs?q=` and `forge ps` (docs/use/search.md), e.g.
 * `state:failed loss<1.2 hparams.lr>=1e-5 (tag:grpo OR after:2026-11-01)`.
 */
export type RunSearch = Search<WordField>

/** A search of things that have these fields besides times, metrics, hyperparameters and labels. */
export type Search<F extends string> =
  | { kind: 'and' | 'or'; items: Search<F>[] }
  | { kind: 'not'; item: Search<F> }
  | Condition<F>

export type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>='
export type MetricPart = 'last' | 'min' | 'max'

export type Condition<F extends string = WordField> =
  /** Contained in the name, the ids or a tag. */
  | { kind: 'word'; text: string }
  | { kind: 'field'; field: F; op: '=' | '!='; value: string }
  | { kind: 'time'; field: TimeField; op: '<' | '<=' | '>' | '>='; at: string }
  | { kind: 'metric'; key: string; of: MetricPart; op: Comparison; value: number }
  | { kind: 'hparam'; key: string; op: Comparison; value: string }
  | { kind: 'label'; key: string; op: '=' | '!='; value: string }

export const wordFields = [
  'state',
  'owner',
  'project',
  'tag',
  'name',
  'source',
  'recipe',
  'starred',
  'archived',
] as const
export type WordField = (typeof wordFields)[number]

export const timeFields = ['created', 'started', 'ended'] as const
export type TimeField = (typeof timeFields)[number]

export const metricParts = ['last', 'min', 'max'] as const

/** Maximum characters and conditions of a search, and depth of nested groups. */
export const searchLimits = { length: 1000, conditions: 50, depth: 20, text: 250 } as const

/** A syntax error in a search. `at` is the 0-based index of the wrong character. */
export class SearchFault extends Error {
  readonly at: number
  constructor(message: string, at: number) {
    super(message)
    this.name = 'SearchFault'
    this.at = at
  }
}

/** Formats a search as text that parses to the same search. */
export function printSearch(search: RunSearch): string {
  switch (search.kind) {
    case 'and':
      return search.items.map(item => within(item, ['and', 'or'])).join(' ')
    case 'or':
      return search.items.map(item => within(item, ['or'])).join(' OR ')
    case 'not':
      return `NOT ${within(search.item, ['and', 'or'])}`
    case 'word':
      return quoted(search.text, isPlainWord)
    case 'field':
      return `${search.field}${search.op === '=' ? ':' : search.op}${quoted(search.value, isPlainValue)}`
    case 'time':
      return `${search.field}${search.op}${search.at}`
    case 'metric':
      return `metric:${quoted(search.key, isPlainKey)}:${search.of}${search.op}${search.value}`
    case 'hparam':
      return `hparams.${quoted(search.key, isPlainKey)}${search.op}${quoted(search.value, isPlainValue)}`
    case 'label':
      return `label.${quoted(search.key, isPlainKey)}${search.op === '=' ? ':' : search.op}${quoted(search.value, isPlainValue)}`
  }
}

const within = (item: RunSearch, grouped: readonly string[]) =>
  grouped.includes(item.kind) ? `(${printSearch(item)})` : printSearch(item)

const isPlainWord = (text: string) =>
  /^[^\s"():<>=!]+$/.test(text) && !/^(AND|OR|NOT)$|^(hparams|label)\./.test(text)
const isPlainKey = (text: string) => /^[^\s"():<>=!]+$/.test(text)
const isPlainValue = (text: string) => /^[^\s"():<>=!][^\s"()]*$/.test(text)
const quoted = (text: string, isPlain: (text: string) => boolean) =>
  isPlain(text) ? text : `"${text.replace(/["\\]/g, '\\$&')}"`

/** From 1, in characters as people count them. */
export const columnOf = (text: string, at: number): number => [...text.slice(0, at)].length + 1
