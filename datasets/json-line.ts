import { isAscii, isUtf8 } from 'node:buffer'
import { maxDepth, maxFields } from './bounds.ts'
import { jsonFault } from './json-faults.ts'
import { countKeys, repeatedKey, scanJson } from './json-scan.ts'

/** A row, or the fault of its line. */
export type Parsed =
  | { row: Record<string, unknown>; fault: null }
  | { row: null; fault: string | (() => string) }

const faulty = (fault: string | (() => string)): Parsed => ({ row: null, fault })

/** Parses a line without its line break. */
export function parseLine(line: Buffer): Parsed {
  if (isBlank(line)) return faulty('empty line: remove it')
  if (!isUtf8(line)) return faulty(`not UTF-8${whereInvalid(line)}: save the file as UTF-8`)
  const { depth, keys } = scanJson(line)
  if (depth > maxDepth)
    return faulty(`lists and objects are nested ${depth} deep; at most ${maxDepth} are allowed`)
  const text = line.toString(isAscii(line) ? 'latin1' : 'utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return faulty(() => jsonFault(text))
  }
  if (!isRecord(value)) return faulty(notAnObject(value))
  return checkKeys(value, keys, text)
}

/** Rows that were written through `JSON.parse` can have none of these faults. */
function checkKeys(row: Record<string, unknown>, keys: number, text: string): Parsed {
  if (countKeys(row) !== keys)
    return faulty(() => `the key ${JSON.stringify(repeatedKey(text))} is there twice: keep one`)
  if (Object.keys(row).length > maxFields)
    return faulty(`a row has at most ${maxFields} fields; this one has ${Object.keys(row).length}`)
  return { row, fault: null }
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const notAnObject = (value: unknown): string =>
  Array.isArray(value)
    ? 'a row must be an object, not a list: write each object on a line of its own'
    : `a row must be an object such as {"text": "…"}, not ${value === null ? 'null' : `a ${typeof value}`}`

function isBlank(line: Buffer): boolean {
  for (const byte of line) if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false
  return true
}

/** The place of the first byte that is not UTF-8, in words. */
export function whereInvalid(bytes: Buffer): string {
  // The longest beginning that is UTF-8, except perhaps for a character that is cut off.
  let valid = 0
  let invalid = bytes.length
  while (valid + 1 < invalid) {
    const middle = (valid + invalid) >> 1
    if (isUtf8Prefix(bytes.subarray(0, middle))) valid = middle
    else invalid = middle
  }
  while (!isUtf8(bytes.subarray(0, valid))) valid--
  return ` (byte 0x${(bytes[valid] ?? 0).toString(16).padStart(2, '0')} at position ${valid + 1})`
}

/** Whether these bytes continue to UTF-8: a character of up to four bytes may be cut off at the end. */
const isUtf8Prefix = (bytes: Buffer): boolean =>
  [0, 1, 2, 3].some(
    cut =>
      isUtf8(bytes.subarray(0, bytes.length - cut)) && isCutOff(bytes.subarray(bytes.length - cut)),
  )

/** Whether these bytes can be the beginning of a longer character; no bytes can. */
function isCutOff(bytes: Buffer): boolean {
  const [first, ...others] = bytes
  if (first === undefined) return true
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2
  const isFirst = first >= 0xc2 && first <= 0xf4
  return isFirst && bytes.length < length && others.every(byte => byte >> 6 === 0b10)
}
