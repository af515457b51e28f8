import { searchedStates } from '../../../../../schemas/jobs/states.ts'
import { wordFields } from '../../../../../schemas/runs/search.ts'

/** The response of `GET /api/runs/names`. */
export type Asked = { of: 'owners' | 'tags' | 'labels' | 'metrics' | 'hparams'; contains: string }

export type Known = {
  projects: readonly string[]
  /** The server's response when `askedBy` was this same word. */
  names: readonly string[]
}

const most = 10

/** The word of a search that ends at the cursor, and where it begins. */
export function wordAt(text: string, cursor: number): { word: string; from: number } {
  const from = Math.max(text.lastIndexOf(' ', cursor - 1), text.lastIndexOf('(', cursor - 1)) + 1
  return { word: text.slice(from, cursor), from }
}

const ofFields: Readonly<Record<string, Asked['of']>> = { owner: 'owners', tag: 'tags' }

/** What a name begins with, if it is not that of a metric. */
const ofPrefixes: Readonly<Record<string, Asked['of']>> = {
  'hparams.': 'hparams',
  'label.': 'labels',
}

/** The request that completes a word; null: none. */
export function askedBy(word: string): Asked | null {
  const [, field = '', value = ''] = /^(\w+):(.*)$/s.exec(word) ?? []
  if (ofFields[field]) return { of: ofFields[field], contains: value }
  for (const [prefix, of] of Object.entries(ofPrefixes))
    if (word.startsWith(prefix)) return { of, contains: word.slice(prefix.length) }
  return /^[^\s"():<>=!]{2,}$/.test(word) ? { of: 'metrics', contains: word } : null
}

/** The completions of the word at the cursor (docs/use/search.md). */
export function completionsOf(word: string, known: Known): string[] {
  const asked = askedBy(word)
  const [, field, value = ''] = /^(\w+):(.*)$/s.exec(word) ?? []
  if (field !== undefined) {
    const values = { state: searchedStates, project: known.projects }[field]
    const found = values ? startingWith(values, value) : asked ? known.names : []
    return found
      .map(one => `${field}:${quoted(one)}`)
      .filter(one => one !== word)
      .slice(0, most)
  }
  if (word === '') return []
  const all = [
    ...wordFields.map(name => `${name}:`),
    'created>',
    'started>',
    'ended>',
    ...Object.keys(ofPrefixes),
  ]
  const names = asked === null ? [] : known.names.map(quoted)
  const prefix = Object.keys(ofPrefixes).find(one => word.startsWith(one)) ?? ''
  const named = names.map(name => `${prefix}${name}`)
  return [...startingWith(all, word), ...named.filter(name => name !== word)].slice(0, most)
}

const startingWith = (all: readonly string[], start: string): string[] =>
  [...new Set(all)].filter(
    one => one.toLowerCase().startsWith(start.toLowerCase()) && one !== start,
  )

/** In the format of the search. */
const quoted = (name: string): string =>
  /^[^\s"():<>=!]+$/.test(name) ? name : `"${name.replace(/["\\]/g, '\\$&')}"`

/** The text with the word at the cursor replaced, and the new position of the cursor. */
export function completed(
  text: string,
  cursor: number,
  choice: string,
): { text: string; cursor: number } {
  const { from } = wordAt(text, cursor)
  const isWhole = !/[:>.]$/.test(choice)
  const put = `${choice}${isWhole ? ' ' : ''}`
  const rest = text.slice(cursor).replace(/^ /, isWhole ? '' : ' ')
  return { text: text.slice(0, from) + put + rest, cursor: from + put.length }
}

/** The effect of a key on the list of completions: move to another one, take the marked one, or nothing. */
export function keyInList(
  key: string,
  at: number,
  count: number,
): number | 'take' | 'close' | null {
  if (count === 0) return null
  if (key === 'ArrowDown') return (at + 1) % count
  if (key === 'ArrowUp') return (at <= 0 ? count : at) - 1
  if (key === 'Escape') return 'close'
  return at >= 0 && (key === 'Tab' || key === 'Enter') ? 'take' : null
}
