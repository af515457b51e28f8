/** The part of JSON Schema that describes the bodies of reports. */
export type Schema = {
  type?: string
  properties?: Record<string, Schema>
  required?: readonly string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: readonly Schema[]
  enum?: readonly unknown[]
  format?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
}

type Path = readonly (string | number)[]
/** A body that differs from an accepted one at `loc`. */
export type Case = { what: string; loc: Path; body: unknown }

type Change = { what: string; loc: Path; value: unknown }
const missing = Symbol('missing')

/** Bodies with one fault each: wrong types, missing and unknown fields, one past each limit. */
export const faults = (schema: Schema, example: unknown): Case[] =>
  allIn(schema, example, [], faultsAt).map(change => toCase(example, change))

/** Bodies in which one field is exactly at its limit. */
export const atLimits = (schema: Schema, example: unknown): Case[] =>
  allIn(schema, example, [], limitsAt).map(change => toCase(example, change))

const toCase = (example: unknown, { what, loc, value }: Change): Case => ({
  what: `${loc.join('.') || 'the body'}: ${what}`,
  loc,
  body: withValue(example, loc, value),
})

function withValue(into: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value
  const isList = Array.isArray(into) || (into === undefined && typeof key === 'number')
  const copy: Record<string | number, unknown> = isList
    ? ([...((into as unknown[]) ?? [])] as never)
    : { ...(into as object) }
  if (rest.length === 0 && value === missing) delete copy[key]
  else copy[key] = withValue(copy[key], rest, value)
  return copy
}

type Found = (schema: Schema, loc: Path) => Change[]

/** Changes of a value and of all its parts; parts missing from the example are made up. */
function allIn(given: Schema, value: unknown, loc: Path, find: Found): Change[] {
  const schema = plain(given)
  const here = find(schema, loc)
  if (schema.type === 'array' && schema.items) {
    const [item = minimal(schema.items)] = Array.isArray(value) ? value : []
    return [...here, ...allIn(schema.items, item, [...loc, 0], find)]
  }
  if (!schema.properties) return here
  const known = (typeof value === 'object' && value !== null ? value : {}) as Record<
    string,
    unknown
  >
  const inside = Object.entries(schema.properties).flatMap(([key, property]) =>
    allIn(property, known[key] ?? minimal(property), [...loc, key], find),
  )
  return [...here, ...inside]
}

/** The alternative other than null. */
function plain(schema: Schema): Schema {
  const others = schema.anyOf?.filter(({ type }) => type !== 'null') ?? []
  return others.length === 1 && others[0] ? plain(others[0]) : schema
}

/** The smallest value that the schema accepts. */
function minimal(given: Schema): unknown {
  const schema = plain(given)
  if (schema.enum) return schema.enum[0]
  if (schema.anyOf?.[0]) return minimal(schema.anyOf[0])
  return minimalOf[schema.type ?? 'object']?.(schema)
}

const minimalOf: Record<string, (schema: Schema) => unknown> = {
  array: ({ items }) => (items ? [minimal(items)] : []),
  string: ({ format, minLength = 1 }) =>
    format ? '2026-11-20T19:26:53+00:00' : 'x'.repeat(minLength),
  integer: ({ minimum = 0 }) => Math.max(minimum, 0),
  number: ({ minimum = 0 }) => Math.max(minimum, 0),
  boolean: () => true,
  object: ({ required = [], properties = {} }) =>
    Object.fromEntries(required.map(key => [key, minimal(properties[key] ?? {})])),
}

/** Bodies stay far below their limits in bytes. */
const mostItems = 10_001
const mostChars = 100_000

function faultsAt(schema: Schema, loc: Path): Change[] {
  const put = (what: string, value: unknown): Change => ({ what, loc, value })
  switch (schema.type) {
    case 'string':
      return [put('a number', 7), ...wrongTexts(schema, put)]
    case 'integer':
      return [put('a text', 'x'), put('a fraction', 1.5), ...wrongNumbers(schema, put)]
    case 'number':
      return [put('a text', 'x'), ...wrongNumbers(schema, put)]
    case 'boolean':
      return [put('a text', 'x')]
    case 'array':
      return [put('a text', 'x'), ...wrongLists(schema, put)]
    case 'object':
      return [put('a text', 'x'), ...wrongKeys(schema, loc)]
    default:
      return []
  }
}

type Put = (what: string, value: unknown) => Change

function wrongTexts({ enum: words, format, minLength = 0, maxLength }: Schema, put: Put): Change[] {
  const found: Change[] = []
  if (words) found.push(put('another word', 'no-such-word'))
  if (format) found.push(put('no time', 'yesterday'))
  if (minLength > 0) found.push(put('too short', 'x'.repeat(minLength - 1)))
  if (maxLength !== undefined && maxLength < mostChars)
    found.push(put('too long', 'x'.repeat(maxLength + 1)))
  return found
}

function wrongNumbers({ minimum, maximum }: Schema, put: Put): Change[] {
  const found: Change[] = []
  if (minimum !== undefined) found.push(put('too small', minimum - 1))
  if (maximum !== undefined) found.push(put('too large', maximum + 1))
  return found
}

function wrongLists({ items = {}, minItems = 0, maxItems }: Schema, put: Put): Change[] {
  const found: Change[] = []
  if (minItems > 0) found.push(put('too few', listOf(items, minItems - 1)))
  if (maxItems !== undefined && maxItems < mostItems)
    found.push(put('too many', listOf(items, maxItems + 1)))
  return found
}

const listOf = (items: Schema, length: number) => Array.from({ length }, () => minimal(items))

function wrongKeys({ additionalProperties, required = [] }: Schema, loc: Path): Change[] {
  const gone = required.map(key => ({ what: 'missing', loc: [...loc, key], value: missing }))
  if (additionalProperties !== false) return gone
  return [...gone, { what: 'unknown', loc: [...loc, 'huh'], value: 1 }]
}

function limitsAt(schema: Schema, loc: Path): Change[] {
  const found: Change[] = []
  const put = (what: string, value: unknown) => found.push({ what, loc, value })
  const { type, enum: words, minimum, maximum, minLength, maxLength, maxItems, items = {} } = schema
  for (const word of words ?? []) put(`the word ${word}`, word)
  if (minimum !== undefined) put('the smallest', minimum)
  if (maximum !== undefined) put('the largest', maximum)
  if (type === 'string' && !schema.format && minLength !== undefined)
    put('the shortest', 'x'.repeat(minLength))
  if (maxLength !== undefined && maxLength < mostChars) put('the longest', 'x'.repeat(maxLength))
  if (maxItems !== undefined && maxItems < mostItems) put('the most', listOf(items, maxItems))
  return found
}
