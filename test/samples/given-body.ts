import type { TSchema } from 'typebox'

/** Values for fields of these names at any depth. */
export type Known = Readonly<Record<string, unknown>>

/** The smallest value that fits a schema, without optional fields. Throws if it finds none. */
export function smallest(schema: TSchema, known: Known, name = ''): unknown {
  const words = schema as Words
  if (name in known) return known[name]
  if ('default' in words) return words.default
  if ('const' in words) return words.const
  if (words.enum) return words.enum[0]
  const choice = words.anyOf ?? words.oneOf
  if (choice) return smallest(choice.find(({ type }) => type !== 'null') as TSchema, known, name)
  const type = [words.type ?? []].flat()[0]
  const make = by[type ?? '']
  if (!make) throw new Error(`a value of ${JSON.stringify(schema)} is not known`)
  return make(words, known, name)
}

type Words = {
  type?: string | readonly string[]
  default?: unknown
  const?: unknown
  enum?: readonly unknown[]
  anyOf?: readonly Words[]
  oneOf?: readonly Words[]
  properties?: Record<string, TSchema>
  required?: readonly string[]
  items?: TSchema | readonly TSchema[]
  minItems?: number
  minimum?: number
  exclusiveMinimum?: number
  minLength?: number
  pattern?: string
  format?: string
}

const by: Record<string, (words: Words, known: Known, name: string) => unknown> = {
  object: ({ properties = {}, required = [] }, known) =>
    Object.fromEntries(
      required.map(key => [key, smallest(properties[key] as TSchema, known, key)]),
    ),
  array: ({ items, minItems = 0 }, known) =>
    Array.isArray(items)
      ? items.map(item => smallest(item, known))
      : Array.from({ length: minItems }, () => smallest(items as TSchema, known)),
  string: text,
  integer: ({ minimum = 0 }) => minimum,
  number: ({ minimum = 0, exclusiveMinimum = minimum - 1 }) =>
    Math.max(minimum, exclusiveMinimum + 1),
  boolean: () => false,
  null: () => null,
}

const instant = '2026-01-01T00:00:00+00:00'
const texts = [
  'demo',
  '1',
  '0'.repeat(64),
  `sha256:${'0'.repeat(64)}`,
  instant,
  '1.0.0',
  'kind:demo',
]

function text({ format, pattern = '', minLength = 0 }: Words, _: Known, name: string): string {
  if (format === 'date-time') return instant
  const fitting = texts.find(candidate => new RegExp(pattern, 'u').test(candidate))
  if (fitting === undefined) throw new Error(`no text is known that fits the ${pattern} of ${name}`)
  return fitting.padEnd(minLength, 'o')
}

/** Whether a schema has a field of this name at any depth. */
export function mentions(schema: TSchema | undefined, name: string): boolean {
  const { properties = {} } = (schema ?? {}) as Words
  return Object.entries(properties).some(
    ([key, property]) => key === name || mentions(property, name),
  )
}
