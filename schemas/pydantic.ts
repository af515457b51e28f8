import type { ErrorObject } from 'ajv/dist/2020.js'
import { namePattern, type ValidationError } from './shared.ts'

const maxErrors = 50
/** Maximum length of an echoed input, in characters of JSON; longer ones are not helpful. */
const maxInputLength = 300
const secretWords =
  'passw(or)?d|secret|token|credential|authorization|device_code|(api|access|private)[-_]?key'
const secretName = new RegExp(`${secretWords}|current|^new$`, 'i')
/** Finds a key with a secret's name anywhere inside a rejected value. */
const secretKey = new RegExp(`"[^"]*(${secretWords})[^"]*":`, 'i')

export type Source = {
  part: string
  /** The schema has secret fields, so an unexpected field may be a secret under a wrong name. */
  holdsSecrets: boolean
}

/** Words ajv's faults as pydantic 2 does, which generated clients understand. */
export function toValidationErrors(faults: ErrorObject[], source: Source): ValidationError[] {
  const shown = withoutUnionNoise(faults)
  const seen = new Set<string>()
  const errors: ValidationError[] = []
  for (const fault of shown) {
    const error = toValidationError(fault, source)
    const identity = JSON.stringify([error.loc, error.type])
    if (seen.has(identity)) continue
    seen.add(identity)
    errors.push(error)
    if (errors.length === maxErrors) break
  }
  return errors
}

/** A failed union reports each branch and itself; only the branch that is not `null` helps a person. */
function withoutUnionNoise(faults: ErrorObject[]): ErrorObject[] {
  const unions = new Set(faults.filter(f => f.keyword === 'anyOf').map(f => f.instancePath))
  const real = faults.filter(
    f =>
      f.keyword !== 'if' &&
      // The fault of the name itself is reported separately.
      f.keyword !== 'propertyNames' &&
      !(unions.has(f.instancePath) && f.keyword === 'type' && f.params.type === 'null'),
  )
  const explained = real.filter(f => f.keyword !== 'anyOf' && f.keyword !== 'oneOf')
  return real.filter(
    f =>
      (f.keyword !== 'anyOf' && f.keyword !== 'oneOf') ||
      !explained.some(e => e.instancePath.startsWith(f.instancePath)),
  )
}

function toValidationError(fault: ErrorObject, source: Source): ValidationError {
  const { type, msg, at, ctx } = wording(fault)
  const loc = [
    source.part,
    ...pathOf(fault),
    ...(at === undefined ? [] : [at]),
    ...(fault.propertyName === undefined ? [] : [start(fault.propertyName), '[key]']),
  ]
  const error: ValidationError = { loc, msg, type }
  const input = mayEcho(fault, at, source) ? inputOf(fault, at) : undefined
  if (input !== undefined && !loc.some(step => secretName.test(String(step)))) error.input = input
  if (ctx) error.ctx = ctx
  return error
}

const start = (name: string) => (name.length > 64 ? `${name.slice(0, 63)}…` : name)

/** If the schema has secrets, only scalar values of known, non-secret fields are echoed. */
function mayEcho(fault: ErrorObject, at: string | undefined, { holdsSecrets }: Source): boolean {
  if (!holdsSecrets) return at === undefined || fault.keyword === 'additionalProperties'
  return at === undefined && fault.instancePath !== '' && typeof fault.data !== 'object'
}

function inputOf(fault: ErrorObject, at: string | undefined): unknown {
  const value = at === undefined ? fault.data : (fault.data as Record<string, unknown>)[at]
  const text = jsonOf(value)
  return text !== null && text.length <= maxInputLength && !secretKey.test(text) ? value : undefined
}

/** Null for values that JSON cannot express, and for values nested too deep to serialize. */
function jsonOf(value: unknown): string | null {
  if (typeof value === 'number' && !Number.isFinite(value)) return null
  try {
    return JSON.stringify(value) ?? null
  } catch {
    return null
  }
}

/** Array indexes are integers in `loc`; a number-like object key stays text. */
function pathOf(fault: ErrorObject): (string | number)[] {
  const steps = fault.instancePath.split('/').slice(1)
  return steps.map(step => {
    const text = step.replaceAll('~1', '/').replaceAll('~0', '~')
    return /^(0|[1-9]\d*)$/.test(text) ? Number(text) : text
  })
}

type Wording = { type: string; msg: string; at?: string; ctx?: Record<string, unknown> }

function wording(fault: ErrorObject): Wording {
  const say = words[fault.keyword]
  return say
    ? say(fault.params, fault)
    : { type: 'value_error', msg: fault.message ?? 'Invalid value' }
}

const typeWords: Record<string, [string, string]> = {
  string: ['string_type', 'Input should be a valid string'],
  integer: ['int_type', 'Input should be a valid integer'],
  number: ['float_type', 'Input should be a valid number'],
  boolean: ['bool_type', 'Input should be a valid boolean'],
  array: ['list_type', 'Input should be a valid list'],
  object: ['dict_type', 'Input should be a valid dictionary'],
  null: ['none_required', 'Input should be None'],
}

const words: Record<string, (params: Record<string, unknown>, fault: ErrorObject) => Wording> = {
  required: p => ({ type: 'missing', msg: 'Field required', at: String(p.missingProperty) }),
  type: p => {
    const expected = Array.isArray(p.type) ? String(p.type[0]) : String(p.type)
    const [type, msg] = typeWords[expected] ?? ['value_error', `Input should be ${expected}`]
    return { type, msg }
  },
  minLength: p => ({
    type: 'string_too_short',
    msg: `String should have at least ${p.limit} character${p.limit === 1 ? '' : 's'}`,
    ctx: { min_length: p.limit },
  }),
  maxLength: p => ({
    type: 'string_too_long',
    msg: `String should have at most ${p.limit} characters`,
    ctx: { max_length: p.limit },
  }),
  pattern: p => ({
    type: 'string_pattern_mismatch',
    msg:
      p.pattern === namePattern
        ? 'A name should not contain control characters, or marks that change the direction of text'
        : `String should match pattern '${p.pattern}'`,
    ctx: { pattern: p.pattern },
  }),
  minimum: p => ({
    type: 'greater_than_equal',
    msg: `Input should be greater than or equal to ${p.limit}`,
    ctx: { ge: p.limit },
  }),
  maximum: p => ({
    type: 'less_than_equal',
    msg: `Input should be less than or equal to ${p.limit}`,
    ctx: { le: p.limit },
  }),
  exclusiveMinimum: p => ({
    type: 'greater_than',
    msg: `Input should be greater than ${p.limit}`,
    ctx: { gt: p.limit },
  }),
  enum: p => literal(p.allowedValues as unknown[]),
  const: p => literal([p.allowedValue]),
  minItems: (p, f) => listLength('too_short', 'at least', p.limit, f),
  maxItems: (p, f) => listLength('too_long', 'at most', p.limit, f),
  minProperties: (p, f) => listLength('too_short', 'at least', p.limit, f),
  maxProperties: (p, f) => listLength('too_long', 'at most', p.limit, f),
  additionalProperties: p => ({
    type: 'extra_forbidden',
    msg: 'Extra inputs are not permitted',
    at: String(p.additionalProperty),
  }),
  format: () => ({
    type: 'datetime_parsing',
    msg: 'Input should be a valid datetime with an explicit offset',
  }),
}

function literal(allowed: unknown[]): Wording {
  const expected = allowed.map(v => (typeof v === 'string' ? `'${v}'` : String(v))).join(' or ')
  return { type: 'literal_error', msg: `Input should be ${expected}`, ctx: { expected } }
}

function listLength(type: string, bound: string, limit: unknown, fault: ErrorObject): Wording {
  const length = Array.isArray(fault.data)
    ? fault.data.length
    : Object.keys(fault.data as object).length
  const noun = Array.isArray(fault.data) ? 'List' : 'Dictionary'
  return {
    type,
    msg: `${noun} should have ${bound} ${limit} item${limit === 1 ? '' : 's'} after validation, not ${length}`,
    ctx: { [type === 'too_long' ? 'max_length' : 'min_length']: limit, actual_length: length },
  }
}
