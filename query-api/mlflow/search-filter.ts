import { Refusal } from '../../platform/refusal.ts'

/** The field that a condition or an order refers to. */
export type Field = {
  of: 'metric' | 'param' | 'tag' | 'attribute'
  key: string
}
export type Comparator =
  | ('=' | '!=' | '<' | '<=' | '>' | '>=')
  | ('LIKE' | 'ILIKE' | 'IN' | 'NOT IN' | 'IS NULL' | 'IS NOT NULL')
export type Condition = Field & {
  comparator: Comparator
  /** One value; several for `IN`, none for `IS NULL`. */
  values: readonly (string | number)[]
}
export type Order = Field & { desc: boolean }

const kinds: Readonly<Record<string, Field['of']>> = {
  metric: 'metric',
  metrics: 'metric',
  param: 'param',
  params: 'param',
  parameter: 'param',
  parameters: 'param',
  tag: 'tag',
  tags: 'tag',
  attribute: 'attribute',
  attributes: 'attribute',
  attr: 'attribute',
  run: 'attribute',
}
const attributes: Readonly<Record<string, string>> = {
  run_id: 'run_id',
  run_name: 'run_name',
  'run name': 'run_name',
  'Run name': 'run_name',
  'Run Name': 'run_name',
  status: 'status',
  user_id: 'user_id',
  artifact_uri: 'artifact_uri',
  start_time: 'start_time',
  created: 'start_time',
  Created: 'start_time',
  end_time: 'end_time',
}
const numeric = new Set(['start_time', 'end_time'])
const ofNumbers: readonly Comparator[] = ['=', '!=', '<', '<=', '>', '>=']
const ofTexts: readonly Comparator[] = ['=', '!=', 'LIKE', 'ILIKE']
const ofLists: readonly Comparator[] = ['IN', 'NOT IN']
const ofAbsence: readonly Comparator[] = ['IS NULL', 'IS NOT NULL']

export const isNumeric = ({ of, key }: Field): boolean =>
  of === 'metric' || (of === 'attribute' && numeric.has(key))

const maxConditions = 20

const token =
  /\s*(?:(?<quoted>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.)*"|`[^`]*`)|(?<comparator><=|>=|!=|=|<|>)|(?<mark>[(),])|(?<word>[^\s'"`<>=!(),]+))/gy

type Token = { text: string; kind: 'quoted' | 'comparator' | 'mark' | 'word' }

const invalid = (detail: string) => new Refusal('invalid', detail)

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  token.lastIndex = 0
  for (let from = 0; text.slice(from).trim() !== ''; from = token.lastIndex) {
    token.lastIndex = from
    const found = token.exec(text)
    if (!found?.groups)
      throw invalid(`Invalid filter: cannot read '${text.slice(from, from + 40)}'`)
    const [kind, value] = Object.entries(found.groups).find(([, part]) => part !== undefined) ?? []
    tokens.push({ text: value ?? '', kind: kind as Token['kind'] })
  }
  return tokens
}

/** Parses MLflow's filters: conditions joined by AND, as in `metrics.loss < 0.5 and params."batch size" = '32'`. */
export function parseFilter(filter: string): Condition[] {
  const tokens = reader(tokensOf(filter))
  const conditions: Condition[] = []
  while (!tokens.isDone()) {
    if (conditions.length > 0 && !tokens.takeWord('AND'))
      throw invalid(
        `Invalid filter: AND is expected before '${tokens.peek()}'; OR is not supported`,
      )
    conditions.push(parseCondition(tokens))
    if (conditions.length > maxConditions)
      throw invalid(`Invalid filter: at most ${maxConditions} conditions are allowed`)
  }
  return conditions
}

/** Parses `metrics.loss DESC`. */
export function parseOrder(text: string): Order {
  const tokens = reader(tokensOf(text))
  const field = parseField(tokens)
  const desc = tokens.takeWord('DESC')
  if (!desc) tokens.takeWord('ASC')
  if (!tokens.isDone()) throw invalid(`Invalid order_by clause '${text}'`)
  return { ...field, desc }
}

type Reader = ReturnType<typeof reader>

function reader(tokens: readonly Token[]) {
  let at = 0
  return {
    isDone: () => at >= tokens.length,
    peek: () => tokens[at]?.text ?? 'the end',
    take(...wanted: Token['kind'][]): Token {
      const next = tokens[at]
      if (!next || !wanted.includes(next.kind))
        throw invalid(`Invalid filter: ${wanted.join(' or ')} is expected before '${this.peek()}'`)
      at++
      return next
    },
    takeWord(word: string): boolean {
      const next = tokens[at]
      const isIt = next?.kind === 'word' && next.text.toUpperCase() === word
      if (isIt) at++
      return isIt
    },
    takeMark(mark: string): boolean {
      const isIt = tokens[at]?.kind === 'mark' && tokens[at]?.text === mark
      if (isIt) at++
      return isIt
    },
  }
}

function parseCondition(tokens: Reader): Condition {
  const field = parseField(tokens)
  const comparator = parseComparator(tokens)
  const isOfField = allowedFor(field).includes(comparator)
  if (!isOfField)
    throw invalid(`Invalid comparator '${comparator}' for the ${field.of} '${field.key}'`)
  const values = valuesOf(tokens, comparator)
  if (isNumeric(field) && values.some(value => typeof value !== 'number'))
    throw invalid(`Expected a number for the ${field.of} '${field.key}'`)
  if (!isNumeric(field) && values.some(value => typeof value === 'number'))
    throw invalid(`Expected a quoted text for the ${field.of} '${field.key}'`)
  return { ...field, comparator, values }
}

function allowedFor(field: Field): readonly Comparator[] {
  if (isNumeric(field)) return ofNumbers
  return field.of === 'attribute' ? [...ofTexts, ...ofLists] : [...ofTexts, ...ofAbsence]
}

/** `metrics.loss`, `params."batch size"`, or an attribute alone. */
function parseField(tokens: Reader): Field {
  const { kind, text } = tokens.take('word', 'quoted')
  const dot = kind === 'word' ? text.indexOf('.') : -1
  const of = dot === -1 ? undefined : kinds[text.slice(0, dot).toLowerCase()]
  if (of === undefined) return attribute(unquoted(text))
  const key = text.slice(dot + 1) || unquoted(tokens.take('quoted').text)
  return of === 'attribute' ? attribute(key) : { of, key }
}

function attribute(name: string): Field {
  const key = Object.hasOwn(attributes, name) ? attributes[name] : undefined
  if (key === undefined)
    throw invalid(
      `Invalid attribute key '${name}'; valid ones are ${[...new Set(Object.values(attributes))].join(', ')}, and metrics.<key>, params.<key> and tags.<key>`,
    )
  return { of: 'attribute', key }
}

function parseComparator(tokens: Reader): Comparator {
  if (tokens.takeWord('IS')) {
    const isNot = tokens.takeWord('NOT')
    if (!tokens.takeWord('NULL')) throw invalid('Invalid filter: NULL is expected after IS')
    return isNot ? 'IS NOT NULL' : 'IS NULL'
  }
  if (tokens.takeWord('NOT')) {
    if (!tokens.takeWord('IN')) throw invalid('Invalid filter: IN is expected after NOT')
    return 'NOT IN'
  }
  for (const word of ['LIKE', 'ILIKE', 'IN'] as const) if (tokens.takeWord(word)) return word
  return tokens.take('comparator').text as Comparator
}

function valuesOf(tokens: Reader, comparator: Comparator): (string | number)[] {
  if (ofAbsence.includes(comparator)) return []
  if (!ofLists.includes(comparator)) return [literal(tokens)]
  if (!tokens.takeMark('(')) throw invalid(`Invalid filter: a list is expected after ${comparator}`)
  const values = [literal(tokens)]
  while (tokens.takeMark(',')) values.push(literal(tokens))
  if (!tokens.takeMark(')')) throw invalid('Invalid filter: the list is not closed')
  return values
}

function literal(tokens: Reader): string | number {
  const { kind, text } = tokens.take('quoted', 'word')
  if (kind === 'quoted') return unquoted(text)
  const number = Number(text)
  if (!Number.isFinite(number))
    throw invalid(`Invalid filter: ${text} is neither a number nor quoted`)
  return number
}

const unquoted = (text: string): string =>
  /^['"`]/.test(text) ? text.slice(1, -1).replaceAll(/\\(.)/g, '$1').replaceAll("''", "'") : text
