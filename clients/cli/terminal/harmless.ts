import { stripVTControlCharacters } from 'node:util'

/**
 * Text from a server must not steer the terminal: escape sequences move the cursor, set the title or the clipboard
 * and hide what follows; bidirectional controls reorder words.
 */
const commands = '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f'
const reordering = '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069'
const unwanted = new RegExp(`[${commands}${reordering}]`, 'g')
const esc = '\u001b'
/** Weights and colours, as programs and this command line set them (ECMA-48, SGR); not hidden and blinking text. */
const style = '[0-4]|2[2-4]|[34][0-7]|[34]8;5;\\d+|[34]8;2;\\d+;\\d+;\\d+|[34]9|9[0-7]|10[0-7]'
const colour = new RegExp(`(${esc}\\[(?:(?:${style})(?:;(?:${style}))*)?m)`)

/** The text without any control but tabs and newlines. */
export const harmless = (text: string): string =>
  stripVTControlCharacters(text).replaceAll(unwanted, '')

/** Like `harmless`, but colours stay. */
export const harmlessInColour = (text: string): string =>
  text
    .split(colour)
    .map((part, at) => (at % 2 === 1 ? part : harmless(part)))
    .join('')

/**
 * A parsed response whose texts and keys are harmless. Names are escaped, so that two that differ look different: newer ones
 * cannot contain controls (`namePattern`), older ones may.
 */
export function harmlessValue(value: unknown, of = ''): unknown {
  if (typeof value === 'string') return names.has(of) ? escaped(value) : harmless(value)
  if (Array.isArray(value)) return value.map(each => harmlessValue(each, of))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [escaped(key), harmlessValue(each, key)]),
  )
}

/** The fields of responses that hold names. */
const names: ReadonlySet<string> = new Set([
  ...['name', 'display_name', 'username', 'owner', 'team', 'project', 'tags', 'labels'],
  ...['key', 'metric', 'model', 'alias', 'benchmark', 'criterion', 'format', 'path'],
])

const escaped = (text: string): string =>
  text.replaceAll(new RegExp(`[${commands}\\t\\n${reordering}]`, 'g'), character => {
    const code = character.charCodeAt(0).toString(16)
    return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`
  })

/** JSON in which every control is escaped: the same value, harmless on a terminal. */
export const toJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replaceAll(
    new RegExp(`[\\u007f-\\u009f${reordering}]`, 'g'),
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
