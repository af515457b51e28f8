import type { ValidationError } from '../../schemas/shared.ts'
import { Invalid } from '../../schemas/validate.ts'

export const maxDepth = 32

/**
 * Parses a request body. Besides malformed JSON it refuses, with their position: U+0000 and lone surrogates
 * (Postgres cannot store them), `__proto__` keys, and nesting deeper than 32. `flat` asserts that the schema names
 * every key, so that only texts with escapes are searched (hot path of ingest).
 */
export function parseJson(text: string, flat = false): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Invalid([malformed(text, error as SyntaxError)])
  }
  if (!flat || text.includes('\\u') || text.includes('__proto__')) {
    if (isPlain(value, 1)) return value
    const faults: ValidationError[] = []
    look(value, ['body'], faults)
    throw new Invalid(faults)
  }
  return value
}

const textOrNonFinite = /"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g

/** Turns `NaN`, `Infinity` and `-Infinity`, which Python's `json` writes, into strings. */
export const quoteNonFinite = (text: string): string =>
  text.includes('NaN') || text.includes('Infinity')
    ? text.replace(textOrNonFinite, found => (found.startsWith('"') ? found : `"${found}"`))
    : text

/** Refuses query and path texts that Postgres cannot store, as `parseJson` does for bodies. */
export function refuseUnstorable(values: object, part: 'query' | 'path'): void {
  if (isPlain(values, 1)) return
  const faults: ValidationError[] = []
  look(values, [part], faults)
  throw new Invalid(faults)
}

function malformed(text: string, error: SyntaxError): ValidationError {
  const bare = /[[:,]\s*(-?(?:NaN|Infinity))\b/d.exec(text)
  return {
    loc: ['body', faultPositionOf(text, error, bare?.indices?.[1]?.[0])],
    msg: text === '' ? 'JSON body expected, but the body is empty' : 'JSON decode error',
    type: 'json_invalid',
    ctx: {
      error: withoutSource(error.message),
      ...(bare && { hint: `JSON has no ${bare[1]}; send it as the string "${bare[1]}"` }),
    },
  }
}

/** V8 quotes the source in its messages, which may contain a password. */
const withoutSource = (message: string) =>
  message.replace(/(, |^)(\.\.\.)?".*is not valid JSON$/s, '') || 'Not valid JSON'

/** V8 includes the position in most of its messages, but not in all. */
function faultPositionOf(text: string, error: SyntaxError, bareAt: number | undefined): number {
  const named = /position (\d+)/.exec(error.message)?.[1]
  if (named !== undefined) return Number(named)
  if (bareAt !== undefined) return bareAt
  return /end of JSON/.test(error.message) ? text.length : 0
}

/** One pass without allocation for the common case; faults are located only if there are any. */
function isPlain(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return textFault(value) === null
  if (typeof value !== 'object' || value === null) return true
  if (depth > maxDepth) return false
  if (Array.isArray(value)) return value.every(item => isPlain(item, depth + 1))
  for (const key of Object.keys(value))
    if (
      key === '__proto__' ||
      textFault(key) !== null ||
      !isPlain((value as Record<string, unknown>)[key], depth + 1)
    )
      return false
  return true
}

function look(value: unknown, loc: (string | number)[], faults: ValidationError[]): void {
  if (faults.length >= 50) return
  if (loc.length > maxDepth) {
    faults.push(tooDeep(loc))
  } else if (typeof value === 'string') {
    const fault = textFault(value)
    if (fault) faults.push({ loc, msg: fault, type: 'value_error' })
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => {
      look(item, [...loc, index], faults)
    })
  } else if (typeof value === 'object' && value !== null) {
    lookInObject(value, loc, faults)
  }
}

export const tooDeep = (loc: (string | number)[]): ValidationError => ({
  loc,
  msg: `Nesting deeper than ${maxDepth} is not accepted`,
  type: 'value_error',
})

function lookInObject(value: object, loc: (string | number)[], faults: ValidationError[]): void {
  for (const [key, item] of Object.entries(value)) {
    const fault = key === '__proto__' ? 'The key __proto__ is not accepted' : textFault(key)
    if (fault) faults.push({ loc: [...loc, key], msg: fault, type: 'value_error' })
    else look(item, [...loc, key], faults)
  }
}

function textFault(text: string): string | null {
  if (text.includes('\0')) return 'Text must not contain U+0000'
  if (!text.isWellFormed()) return 'Text must not contain a lone surrogate'
  return null
}
