import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Static, TSchema } from 'typebox'
import { toValidationErrors } from './pydantic.ts'
import type { ValidationError } from './shared.ts'
import { isTimestamp } from './timestamp.ts'

export type Part = 'body' | 'query' | 'path' | 'header'

export type Checked<T> = { ok: true; value: T } | { ok: false; errors: ValidationError[] }

/** The values do not match their schema; becomes a 422 with one entry per rejected field. */
export class Invalid extends Error {
  readonly errors: ValidationError[]
  constructor(errors: ValidationError[]) {
    super('the request does not fit its schema')
    this.name = 'Invalid'
    this.errors = errors
  }
}

/**
 * Compiles a schema once, when the first value arrives: compiling all of them was a quarter of the server's start. The
 * first pass stops at the first fault, which is fast; only if it fails does a second pass collect every fault. Query
 * and path texts are converted to the numbers and booleans of the schema; defaults are filled in.
 */
export function checker<S extends TSchema>(
  schema: S,
  part: Part,
): (value: unknown) => Checked<Static<S>> {
  const coerceTypes = part === 'query' || part === 'path'
  const source = { part, holdsSecrets: JSON.stringify(schema).includes('"x-secret":true') }
  let quick: ValidateFunction | undefined
  let thorough: ValidateFunction | undefined
  return value => {
    quick ??= compile(schema, { allErrors: false, coerceTypes, useDefaults: true })
    if (quick(value) && !(coerceTypes && holdsInfinity(value)))
      return { ok: true, value: value as Static<S> }
    thorough ??= compile(schema, { allErrors: true, coerceTypes, useDefaults: true })
    thorough(value)
    if (coerceTypes && holdsInfinity(value)) thorough(value)
    return { ok: false, errors: toValidationErrors(thorough.errors ?? [], source) }
  }
}

/**
 * Whether a text such as `Infinity` or `1e999` was converted to a number: ajv does not compare a value that it has just converted
 * to the schema; a further pass does.
 */
const holdsInfinity = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).some(item => typeof item === 'number' && !Number.isFinite(item))

/** Throws if it is not a JSON Schema; a checker would only notice at the first value. */
export function assertSchema(schema: TSchema): void {
  compile(schema, { allErrors: false, coerceTypes: false, useDefaults: true })
}

/** Describes why a value does not fit, without the value itself; null if it fits. */
export type FaultOf = (value: unknown) => string | null

/** Compiles a schema for values that are complete: no default is filled in, and keys it does not name are faults. */
export function exactly(schema: TSchema): FaultOf {
  const options = { allErrors: false, coerceTypes: false, useDefaults: false }
  let validate: ValidateFunction | undefined
  return value => {
    validate ??= compile(closedThroughout(schema) as TSchema, options)
    if (validate(value)) return null
    const [fault] = validate.errors ?? []
    const name = fault?.params.additionalProperty
    return `${fault?.instancePath || '/'} ${fault?.message}${name === undefined ? '' : ` ('${name}')`}`
  }
}

function closedThroughout(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closedThroughout)
  if (typeof schema !== 'object' || schema === null) return schema
  const copy: Record<string, unknown> = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, closedThroughout(value)]),
  )
  const isOpen =
    [copy.type].flat().includes('object') &&
    'properties' in copy &&
    !('additionalProperties' in copy)
  return isOpen ? { ...copy, additionalProperties: false } : copy
}

type Options = { allErrors: boolean; coerceTypes: boolean; useDefaults: boolean }

/** Creating an ajv costs more than compiling a schema, so each combination of options shares one. */
const ajvs = new Map<string, Ajv2020>()

function compile(schema: TSchema, options: Options): ValidateFunction {
  const key = JSON.stringify(options)
  const ajv = ajvs.get(key) ?? createAjv(options)
  ajvs.set(key, ajv)
  return ajv.compile(schema)
}

function createAjv(options: Options): Ajv2020 {
  const ajv = new Ajv2020({
    ...options,
    strict: true,
    verbose: true,
    ownProperties: true,
  })
  ajv.addFormat('date-time', { type: 'string', validate: isTimestamp })
  ajv.addKeyword({ keyword: 'x-secret' })
  return ajv
}
