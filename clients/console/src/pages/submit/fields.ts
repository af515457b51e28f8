import type { Recipe } from '../../../../../schemas/recipes.ts'

/** A parameter of a recipe as a field of a form. */
export type Field = {
  key: string
  kind: 'integer' | 'number' | 'boolean' | 'text' | 'choice' | 'json'
  choices: readonly unknown[]
  description: string
  min: number | null
  max: number | null
  /** Undefined where the recipe has none. */
  fallback: unknown
  isRequired: boolean
}

type Schema = Readonly<Record<string, unknown>>

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null)

/** The parameters in the schema, in its order, then parameters that only have a default. */
export function fieldsOf(recipe: Pick<Recipe, 'params_schema' | 'params_default'>): Field[] {
  const { params_schema: schema, params_default: defaults } = recipe
  const known = isSchema(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : []
  const keys = [...new Set([...Object.keys(known), ...Object.keys(defaults)])]
  return keys.map(key => {
    const one = known[key]
    return {
      key,
      ...typed(isSchema(one) ? one : {}),
      fallback: defaults[key],
      isRequired: required.includes(key),
    }
  })
}

const typed = (schema: Schema): Omit<Field, 'key' | 'fallback' | 'isRequired'> => ({
  kind: kindOf(schema),
  choices: Array.isArray(schema.enum) ? schema.enum : [],
  description: typeof schema.description === 'string' ? schema.description : '',
  min: numberOf(schema.minimum) ?? numberOf(schema.exclusiveMinimum),
  max: numberOf(schema.maximum) ?? numberOf(schema.exclusiveMaximum),
})

const kinds: Readonly<Record<string, Field['kind']>> = {
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
  string: 'text',
}

/** Values without a suitable field are written as JSON. */
function kindOf({ type, enum: choices }: Schema): Field['kind'] {
  if (Array.isArray(choices)) return 'choice'
  return (typeof type === 'string' && kinds[type]) || 'json'
}

/** A value in the format of its field; absent is empty, which means the default. */
export function fieldTextOf({ kind }: Field, value: unknown): string {
  if (value === undefined) return ''
  return kind === 'text' && typeof value === 'string' ? value : JSON.stringify(value)
}

export type Meant = { value: unknown } | { fault: true }

/** The value of a field's text; an empty text is undefined, the default. */
export function meantBy({ kind }: Field, text: string): Meant {
  if (text.trim() === '') return { value: undefined }
  if (kind === 'text') return { value: text }
  if (kind === 'number' || kind === 'integer') return numeric(text.trim(), kind)
  try {
    return { value: JSON.parse(text) }
  } catch {
    return { fault: true }
  }
}

function numeric(text: string, kind: 'number' | 'integer'): Meant {
  const value = Number(text)
  const isFit = kind === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value)
  return isFit ? { value } : { fault: true }
}
