import type { ReflowSource } from '../../schemas/reflows.ts'
import { parseSearchOf } from '../../schemas/runs/parse-search.ts'
import {
  type Comparison,
  type Condition,
  columnOf,
  type Search,
  SearchFault,
} from '../../schemas/runs/search.ts'
import type { ValidationError } from '../../schemas/shared.ts'
import type { Candidate } from './candidate.ts'

const fields = {
  traffic: ['model', 'path', 'token', 'user'],
  samples: ['key'],
  annotations: ['kind'],
} as const satisfies Record<ReflowSource['type'], readonly string[]>

const numbers = {
  traffic: ['duration_ms', 'prompt_tokens', 'completion_tokens', 'messages'],
  samples: ['step', 'reward'],
  annotations: ['score'],
} as const satisfies Record<ReflowSource['type'], readonly string[]>

type Tested = Pick<Candidate, 'row' | 'at' | 'words' | 'numbers'>
export type Filter = (candidate: Tested) => boolean

/** What decides whether a row fits; throws `SearchFault`. An empty text lets all through. */
export function filterOf(type: ReflowSource['type'], text: string): Filter {
  const search = parseSearchOf<string>(text, fields[type])
  if (search === null) return () => true
  refuseUnknown(type, search)
  return candidate => fits(search, candidate)
}

/** The fault of a filter as that of a field; null: it can be read. */
export function filterFault(type: ReflowSource['type'], text: string): ValidationError | null {
  try {
    filterOf(type, text)
    return null
  } catch (error) {
    if (!(error instanceof SearchFault)) throw error
    const column = columnOf(text, error.at)
    return {
      ...{ loc: ['body', 'filter'], msg: `Value error, ${error.message}`, type: 'value_error' },
      ...{ input: text, ctx: { column } },
    }
  }
}

function refuseUnknown(type: ReflowSource['type'], search: Search<string>): void {
  switch (search.kind) {
    case 'and':
    case 'or':
      for (const item of search.items) refuseUnknown(type, item)
      return
    case 'not':
      refuseUnknown(type, search.item)
      return
    case 'metric':
      if ((numbers[type] as readonly string[]).includes(search.key)) return
      throw new SearchFault(
        `${type} has the numbers ${numbers[type].join(', ')}, not ${search.key}`,
        0,
      )
    case 'hparam':
    case 'label':
      throw new SearchFault(`${type} has no hyperparameters and no labels`, 0)
    case 'time':
      if (search.field !== 'created')
        throw new SearchFault(`${type} is compared by created, after and before alone`, 0)
      return
  }
}

function fits(search: Search<string>, candidate: Tested): boolean {
  switch (search.kind) {
    case 'and':
      return search.items.every(item => fits(item, candidate))
    case 'or':
      return search.items.some(item => fits(item, candidate))
    case 'not':
      return !fits(search.item, candidate)
    default:
      return meets(search, candidate)
  }
}

function meets(condition: Condition<string>, { row, at, words, numbers: known }: Tested): boolean {
  switch (condition.kind) {
    case 'word':
      return JSON.stringify(row).toLowerCase().includes(inJson(condition.text))
    case 'field': {
      const value = words[condition.field] ?? null
      return condition.op === '='
        ? value === condition.value
        : value !== null && value !== condition.value
    }
    case 'time':
      return at !== null && compares(Date.parse(at), condition.op, Date.parse(condition.at))
    case 'metric': {
      const value = known[condition.key] ?? null
      return value !== null && compares(value, condition.op, condition.value)
    }
    default:
      return false
  }
}

/** A text, escaped for JSON. */
const inJson = (text: string): string => JSON.stringify(text.toLowerCase()).slice(1, -1)

function compares(one: number, op: Comparison, other: number): boolean {
  switch (op) {
    case '=':
      return one === other
    case '!=':
      return one !== other
    case '<':
      return one < other
    case '<=':
      return one <= other
    case '>':
      return one > other
    case '>=':
      return one >= other
  }
}
