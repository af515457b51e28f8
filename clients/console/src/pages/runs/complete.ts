import { wordFields } from '../../../../../schemas/run-search.ts'

const states = ['pending', 'running', 'succeeded', 'failed', 'stopped', 'abandoned']

export type Known = {
  projects: readonly string[]
  /** Metric keys of runs that are on screen. */
  metrics: readonly string[]
}

const most = 10

/** The word of a search that ends at the cursor, and where it begins. */
export function wordAt(text: string, cursor: number): { word: string; from: number } {
  const from = Math.max(text.lastIndexOf(' ', cursor - 1), text.lastIndexOf('(', cursor - 1)) + 1
  return { word: text.slice(from, cursor), from }
}

/** What the word at the cursor may become (docs/search.md). */
export function completionsOf(word: string, known: Known): string[] {
  const [, field, value] = /^(\w+):(.*)$/.exec(word) ?? []
  if (field === undefined || value === undefined) {
    const all = [
      ...wordFields.map(name => `${name}:`),
      'created>',
      'started>',
      'ended>',
      'hparams.',
      ...known.metrics,
    ]
    return word === '' ? [] : startingWith(all, word)
  }
  const values = { state: states, project: known.projects }[field]
  return startingWith(values ?? [], value).map(found => `${field}:${found}`)
}

const startingWith = (all: readonly string[], start: string): string[] =>
  [...new Set(all)]
    .filter(one => one.toLowerCase().startsWith(start.toLowerCase()) && one !== start)
    .slice(0, most)

/** The text with the word at the cursor replaced, and where the cursor then stands. */
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

/** Where a key of the list of completions leads: to another one, to taking the one that is marked, or nowhere. */
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
