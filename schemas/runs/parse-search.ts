import { searchedStates } from '../jobs/states.ts'
import {
  type Condition,
  type MetricPart,
  metricParts,
  type RunSearch,
  type Search,
  SearchFault,
  searchLimits,
  timeFields,
  wordFields,
} from './search.ts'
import {
  type Reading,
  readName,
  readNumber,
  readTime,
  readValue,
  type Sign,
  skipSpace,
  takeKeyword,
  takeSign,
  takeText,
  toFinite,
} from './search-words.ts'

/** Null for a search without conditions. Only throws `SearchFault`. */
export const parseSearch = (text: string): RunSearch | null => parseSearchOf(text, wordFields)

/** The same for other things, which have these fields. */
export function parseSearchOf<F extends string>(
  text: string,
  fields: readonly F[],
): Search<F> | null {
  if (text.length > searchLimits.length)
    throw new SearchFault(
      `A search has at most ${searchLimits.length} characters`,
      searchLimits.length,
    )
  const control = text.search(/\p{Cs}|(?!\s)\p{Cc}/u)
  if (control >= 0) throw new SearchFault('Control characters cannot be searched for', control)
  const reading = { text, at: 0, conditions: 0, fields }
  skipSpace(reading)
  if (reading.at === text.length) return null
  const search = readAny(reading, 0)
  if (reading.at < text.length) throw new SearchFault('This ) has no matching (', reading.at)
  // Every field in it is one of `fields`.
  return search as Search<F>
}

type Any = Search<string>

const isAtEnd = ({ text, at }: Reading) => at === text.length || text.charAt(at) === ')'

function readAny(reading: Reading, depth: number): Any {
  const items = [readAll(reading, depth)]
  while (takeKeyword(reading, 'OR')) items.push(readAll(reading, depth))
  return joined('or', items)
}

function readAll(reading: Reading, depth: number): Any {
  const items = [readOne(reading, depth)]
  while (!isAtEnd(reading)) {
    const from = reading.at
    if (takeKeyword(reading, 'OR')) {
      reading.at = from
      break
    }
    takeKeyword(reading, 'AND')
    items.push(readOne(reading, depth))
  }
  return joined('and', items)
}

const joined = (kind: 'and' | 'or', items: Any[]): Any => {
  const [only] = items
  return only !== undefined && items.length === 1 ? only : { kind, items }
}

function readOne(reading: Reading, depth: number): Any {
  const from = reading.at
  if (depth > searchLimits.depth)
    throw new SearchFault(`Groups are nested more than ${searchLimits.depth} deep`, from)
  if (isAtEnd(reading)) throw new SearchFault('A condition is missing here', from)
  if (takeKeyword(reading, 'NOT')) return { kind: 'not', item: readOne(reading, depth + 1) }
  for (const keyword of ['AND', 'OR'])
    if (takeKeyword(reading, keyword))
      throw new SearchFault(`A condition is missing before ${keyword}`, from)
  if (reading.text.charAt(from) === '(') return readGroup(reading, depth)
  reading.conditions++
  if (reading.conditions > searchLimits.conditions)
    throw new SearchFault(`A search has at most ${searchLimits.conditions} conditions`, from)
  const condition = readCondition(reading)
  skipSpace(reading)
  return condition
}

function readGroup(reading: Reading, depth: number): Any {
  const from = reading.at
  reading.at++
  skipSpace(reading)
  const inside = readAny(reading, depth + 1)
  if (reading.text.charAt(reading.at) !== ')') throw new SearchFault('This ( is not closed', from)
  reading.at++
  skipSpace(reading)
  return inside
}

function readCondition(reading: Reading): Condition<string> {
  const from = reading.at
  if (takeText(reading, 'hparams.')) return readHparam(reading)
  if (takeText(reading, 'label.')) return readLabel(reading)
  if (takeText(reading, 'metric:')) return readMetric(reading)
  const isQuoted = reading.text.charAt(from) === '"'
  const name = readName(reading)
  const sign = takeSign(reading)
  if (sign === null) return { kind: 'word', text: name }
  if (!isQuoted) {
    const field = readField(reading, { name, sign, from })
    if (field !== null) return field
  }
  if (sign === ':')
    throw new SearchFault(
      `There is no field ${name}; fields are ${[...reading.fields, 'after', 'before'].join(', ')}, and metrics are compared by <, <=, =, >=, >`,
      from,
    )
  return { kind: 'metric', key: name, of: 'last', op: sign, value: readNumber(reading) }
}

type Named = { name: string; sign: Sign; from: number }

/** Null if the name is not a field. */
function readField(reading: Reading, named: Named): Condition<string> | null {
  const { name, sign } = named
  if ((name === 'after' || name === 'before') && sign === ':') {
    const op = name === 'after' ? '>=' : '<'
    return { kind: 'time', field: 'created', op, at: readTime(reading) }
  }
  return readWordField(reading, named) ?? readTimeField(reading, named)
}

function readWordField(reading: Reading, { name, sign, from }: Named): Condition<string> | null {
  const field = reading.fields.find(known => known === name)
  if (field === undefined) return null
  if (sign !== ':' && sign !== '=' && sign !== '!=')
    throw new SearchFault(`${field} has no order: use : or !=`, from + name.length)
  const at = reading.at
  const value = readValue(reading)
  refuseUnknownWord(field, value, at)
  return { kind: 'field', field, op: sign === '!=' ? '!=' : '=', value }
}

function readTimeField(reading: Reading, { name, sign, from }: Named): Condition<string> | null {
  const field = timeFields.find(known => known === name)
  if (field === undefined) return null
  if (sign === ':' || sign === '=' || sign === '!=')
    throw new SearchFault(`${field} is compared by <, <=, >= or >`, from + name.length)
  return { kind: 'time', field, op: sign, at: readTime(reading) }
}

const knownWords: Partial<Record<string, readonly string[]>> = {
  state: searchedStates,
  source: ['job', 'external'],
  starred: ['true', 'false'],
  archived: ['true', 'false'],
}

function refuseUnknownWord(field: string, value: string, at: number): void {
  const known = knownWords[field]
  if (known && !known.includes(value))
    throw new SearchFault(`There is no ${field} ${value}; there are ${known.join(', ')}`, at)
}

/** After `hparams.`. */
function readHparam(reading: Reading): Condition<string> {
  const key = readName(reading)
  const at = reading.at
  const sign = takeSign(reading)
  if (sign === null)
    throw new SearchFault('A comparison is missing: =, !=, <, <=, > or >= and a value', at)
  const op = sign === ':' ? '=' : sign
  const valueAt = reading.at
  const value = readValue(reading)
  if (op !== '=' && op !== '!=' && toFinite(value) === null)
    throw new SearchFault(`${op} compares numbers, and ${value} is not one`, valueAt)
  return { kind: 'hparam', key, op, value }
}

/** After `label.`. */
function readLabel(reading: Reading): Condition<string> {
  const key = readName(reading)
  const at = reading.at
  const sign = takeSign(reading)
  if (sign === null) throw new SearchFault('A comparison is missing: : or != and a value', at)
  if (sign !== ':' && sign !== '=' && sign !== '!=')
    throw new SearchFault(
      `A label has no order: use : or != (metric:label.${key}${sign}… compares a metric)`,
      at,
    )
  return { kind: 'label', key, op: sign === '!=' ? '!=' : '=', value: readValue(reading) }
}

/** After `metric:`. */
function readMetric(reading: Reading): Condition<string> {
  const key = readName(reading)
  const of = takeText(reading, ':') ? readPart(reading) : 'last'
  const at = reading.at
  const op = takeSign(reading)
  if (op === null || op === ':')
    throw new SearchFault('A comparison is missing: <, <=, =, !=, >= or > and a number', at)
  return { kind: 'metric', key, of, op, value: readNumber(reading) }
}

function readPart(reading: Reading): MetricPart {
  const at = reading.at
  const word = /^[^\s"():<>=!]*/.exec(reading.text.slice(at))?.[0]
  const part = metricParts.find(known => known === word)
  if (part === undefined) throw new SearchFault('A metric has last, min and max', at)
  reading.at += part.length
  return part
}
