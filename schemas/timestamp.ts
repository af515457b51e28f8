const zero = 48

/**
 * Epoch milliseconds of an ISO 8601 text with an explicit offset: date, hours and minutes, seconds and a
 * optional fraction of up to nine digits, then `Z` or `±hh:mm`. NaN for any other text and for an instant
 * that does not exist, such as 30 February. Digits beyond milliseconds are dropped.
 *
 * Written by hand because ingest calls it for each point: it is ten times as fast as `Date.parse`, which also
 * reads a text without an offset as local time.
 */
export function parseTimestamp(text: string): number {
  // Neighbouring points usually have the same time.
  if (text === lastText) return lastMs
  const ms = parse(text)
  lastText = text
  lastMs = ms
  return ms
}

let lastText = ''
let lastMs = Number.NaN

/** `2026-11-20T19:26Z` */
const shortest = 17

function parse(text: string): number {
  if (text.length < shortest) return Number.NaN
  const dayStart = parseDate(text)
  const minuteOfDay = parseHoursMinutes(text, 11)
  const secondsEnd = text.charCodeAt(16) === 58 /* : */ ? 19 : 16
  const fractionEnd = endOfFraction(text, secondsEnd)
  const offsetMinutes = parseOffset(text, fractionEnd)
  const seconds = secondsEnd === 19 ? twoDigits(text, 17) : 0
  if (seconds > 59) return Number.NaN
  const ms = fractionEnd > secondsEnd ? milliseconds(text, secondsEnd + 1, fractionEnd) : 0
  return dayStart + (minuteOfDay - offsetMinutes) * 60_000 + seconds * 1000 + ms
}

/** Whether a text is ISO 8601 with an explicit offset and names an instant that exists. */
export const isTimestamp = (text: string): boolean => !Number.isNaN(parseTimestamp(text))

/** `<YYYY-MM-DDThh:mm:ss+00:00>`, as every record shows it (specification, "Identifiers and common formats"). */
export const toTimestamp = (at: Date): string => `${at.toISOString().slice(0, 19)}+00:00`

export const toTimestampOrNull = (at: Date | null): string | null =>
  at === null ? null : toTimestamp(at)

/** Like `toTimestamp`, with milliseconds unless they are zero. */
export const toExactTimestamp = (at: Date): string =>
  at.getUTCMilliseconds() === 0 ? toTimestamp(at) : at.toISOString().replace('Z', '+00:00')

/** Value of a character that is not a digit: a number made with it exceeds every limit. */
const noDigit = 10_000

function digit(text: string, at: number): number {
  const value = text.charCodeAt(at) - zero
  return value >= 0 && value <= 9 ? value : noDigit
}

const twoDigits = (text: string, from: number) => digit(text, from) * 10 + digit(text, from + 1)

/** The cached date, as the number YYYYMMDD. */
let lastDate = 0
let lastDayStart = Number.NaN

/** `YYYY-MM-DDT`, the T in either case or a space. */
function parseDate(text: string): number {
  const separator = text.charCodeAt(10) | 32
  const hyphens = text.charCodeAt(4) === 45 && text.charCodeAt(7) === 45
  if (!hyphens || (separator !== 116 /* t */ && separator !== 32)) return Number.NaN
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2)
  const month = twoDigits(text, 5)
  const day = twoDigits(text, 8)
  const date = year * 10_000 + month * 100 + day
  if (date !== lastDate) {
    lastDayStart = startOfDay(year, month, day)
    lastDate = date
  }
  return lastDayStart
}

function startOfDay(year: number, month: number, day: number): number {
  if (year > 9999 || month < 1 || month > 12 || day > 31) return Number.NaN
  // Date.UTC reads years below 100 as 19xx; setUTCFullYear does not.
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return date.getUTCDate() === day ? date.getTime() : Number.NaN
}

/** `hh:mm`, in minutes. */
function parseHoursMinutes(text: string, from: number): number {
  const hours = twoDigits(text, from)
  const minutes = twoDigits(text, from + 3)
  const valid = text.charCodeAt(from + 2) === 58 && hours < 24 && minutes < 60
  return valid ? hours * 60 + minutes : Number.NaN
}

/** The end of the fraction that may start at `from`: `from` if there is none, -1 if it is malformed. */
function endOfFraction(text: string, from: number): number {
  if (from !== 19 || text.charCodeAt(from) !== 46 /* . */) return from
  let end = from + 1
  while (end < from + 10 && digit(text, end) < noDigit) end++
  return end === from + 1 ? -1 : end
}

function milliseconds(text: string, from: number, end: number): number {
  let ms = 0
  for (let i = from; i < from + 3; i++) ms = ms * 10 + (i < end ? digit(text, i) : 0)
  return ms
}

/** `Z`, `±hh:mm` or `±hhmm` up to the end of the text, in minutes east. */
function parseOffset(text: string, from: number): number {
  if (from < 0) return Number.NaN
  const sign = text.charCodeAt(from)
  if ((sign | 32) === 122 /* z */) return text.length === from + 1 ? 0 : Number.NaN
  if (sign !== 43 && sign !== 45) return Number.NaN
  const minutes = offsetMinutesAt(text, from + 1)
  return sign === 43 ? minutes : -minutes
}

function offsetMinutesAt(text: string, from: number): number {
  if (text.length === from + 5) return parseHoursMinutes(text, from)
  if (text.length !== from + 4) return Number.NaN
  const hours = twoDigits(text, from)
  const minutes = twoDigits(text, from + 2)
  return hours < 24 && minutes < 60 ? hours * 60 + minutes : Number.NaN
}
