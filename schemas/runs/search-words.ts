import { isTimestamp, parseTimestamp } from '../timestamp.ts'
import { type Comparison, SearchFault, searchLimits } from './search.ts'

export type Reading = {
  readonly text: string
  at: number
  conditions: number
  fields: readonly string[]
}

export function skipSpace(reading: Reading): void {
  while (/\s/.test(reading.text.charAt(reading.at))) reading.at++
}

/** Consumes this word if it comes next; returns whether it did. */
export function takeKeyword(reading: Reading, keyword: string): boolean {
  const { text, at } = reading
  const after = text.charAt(at + keyword.length)
  if (!text.startsWith(keyword, at) || /[^\s()"]/.test(after)) return false
  reading.at += keyword.length
  skipSpace(reading)
  return true
}

export function takeText(reading: Reading, text: string): boolean {
  if (!reading.text.startsWith(text, reading.at)) return false
  reading.at += text.length
  return true
}

export type Sign = ':' | Comparison
const signs: readonly Sign[] = ['<=', '>=', '!=', '<', '>', '=', ':']

/** Consumes a comparison operator with the space around it; null, without consuming anything, if there is none. */
export function takeSign(reading: Reading): Sign | null {
  const from = reading.at
  skipSpace(reading)
  const sign = signs.find(known => reading.text.startsWith(known, reading.at))
  // A colon belongs to the preceding word.
  if (sign === undefined || (sign === ':' && reading.at > from)) {
    reading.at = from
    return null
  }
  reading.at += sign.length
  skipSpace(reading)
  return sign
}

/** A name: up to a space, a parenthesis or a comparison; or in quotes. */
export const readName = (reading: Reading) => readText(reading, /[^\s"():<>=!]/)
/** A value: up to a space or a parenthesis, so that times and paths need no quotes; or in quotes. */
export const readValue = (reading: Reading) => readText(reading, /[^\s"()]/)

function readText(reading: Reading, plain: RegExp): string {
  const from = reading.at
  const value = reading.text.charAt(from) === '"' ? readQuoted(reading) : readPlain(reading, plain)
  if ([...value].length > searchLimits.text)
    throw new SearchFault(`A text has at most ${searchLimits.text} characters`, from)
  return value
}

function readPlain(reading: Reading, plain: RegExp): string {
  const from = reading.at
  while (reading.at < reading.text.length && plain.test(reading.text.charAt(reading.at)))
    reading.at++
  if (reading.at > from) return reading.text.slice(from, reading.at)
  const found = reading.text.charAt(from)
  throw new SearchFault(
    found === ''
      ? 'A name or a value is missing here'
      : `A name or a value is missing before ${found}; quotes ("…") keep special characters`,
    from,
  )
}

function readQuoted(reading: Reading): string {
  const { text, at: from } = reading
  let value = ''
  for (let at = from + 1; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === '"') {
      reading.at = at + 1
      return value
    }
    if (char === '\\' && at + 1 < text.length) at++
    value += text.charAt(at)
  }
  throw new SearchFault('This quote is not closed', from)
}

/** As written in a search, or in a hyperparameter whose number was reported as text. */
export const numberPattern = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d{1,3})?$/i

export function toFinite(text: string): number | null {
  const value = numberPattern.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(value) ? value : null
}

export function readNumber(reading: Reading): number {
  const at = reading.at
  const text = readValue(reading)
  const value = toFinite(text)
  if (value === null)
    throw new SearchFault(`Metrics are compared with numbers, and ${text} is not one`, at)
  return value
}

/** A day (its beginning in UTC) or an instant with its offset. */
export function readTime(reading: Reading): string {
  const at = reading.at
  const text = readValue(reading)
  const instant = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text
  const iso = isTimestamp(instant) ? new Date(parseTimestamp(instant)).toISOString() : ''
  if (/^(?!0000)\d{4}-/.test(iso)) return iso
  throw new SearchFault(
    `A time is a day (2026-11-01) or an instant with its offset (2026-11-01T12:00:00Z), not ${text}`,
    at,
  )
}
