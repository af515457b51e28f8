import type { cellsOf } from '../../../../../columns.ts'
import { visible } from '../../../words/visible.ts'
import { plain, type Style, styled } from './style.ts'

/** A piece of a line, as a terminal would show it. */
export type Piece = Style & {
  /** Where it begins in the shown line. */
  at: number
  text: string
}

const esc = String.fromCharCode(0x1b)
const bell = String.fromCharCode(0x07)
/**
 * Terminal sequences: styles (`m`) and erasing (`K`) are applied, all others removed. An incomplete sequence only loses its
 * escape character, so that it cannot swallow the text after it.
 */
const sequence = new RegExp(
  [
    `${esc}\\[(?<style>[0-9;:]*)m`,
    `${esc}\\[(?<erase>[0-2]?)K`,
    `${esc}\\[[0-?]*[!"$'*]?[@-~]`,
    `${esc}\\]\\d{1,4};[^${bell}${esc}]{0,4096}(?:${bell}|${esc}\\\\)`,
    `${esc}[()*+#%][0-9A-Za-z]`,
    `${esc}[78=>c\\\\]?`,
  ].join('|'),
  'g',
)

/** Writings of a line, separated by carriage returns, that can still be seen: older ones only change the style. */
const maxWritings = 8

/** ASCII takes one column each; the tables for all other characters are larger than the rest of the page of logs. */
const oneColumnEach: typeof cellsOf = function* (text) {
  for (const character of text) yield { text: character, columns: 1 }
}

/** Whether a line can only be shown exactly with the columns of its characters. */
export const needsColumns = (line: string): boolean =>
  /\P{ASCII}/u.test(line) && line.trimEnd().includes('\r')

/**
 * A line in pieces of one style each; text overwritten after a carriage return is removed. `columnsOf`: how many columns each of
 * its characters takes.
 */
export function piecesOf(line: string, columnsOf: typeof cellsOf = oneColumnEach): Piece[] {
  const writings = line.replace(/\r+$/, '').split('\r')
  const hidden = writings.slice(0, -maxWritings).join('')
  const runs = writings.slice(-maxWritings)
  const style = styleAfter(plain, hidden)
  return toPieces(
    runs.length === 1 ? runsOf(runs[0] ?? '', style) : overwritten(runs, style, columnsOf),
  )
}

type Run = { text: string; style: Style }

/** Parameters of a sequence; neither: one that is removed. */
type Step = { style?: string; erase?: string }

function* stepsOf(text: string): Generator<string | Step> {
  let from = 0
  for (const found of text.matchAll(sequence)) {
    if (found.index > from) yield text.slice(from, found.index)
    yield found.groups ?? {}
    from = found.index + found[0].length
  }
  if (from < text.length) yield text.slice(from)
}

function styleAfter(style: Style, text: string): Style {
  let now = style
  for (const step of stepsOf(text)) if (typeof step !== 'string') now = styleAs(now, step)
  return now
}

const styleAs = (style: Style, step: Step): Style =>
  step.style === undefined ? style : styled(style, step.style)

function runsOf(text: string, style: Style): Run[] {
  const runs: Run[] = []
  let now = style
  for (const step of stepsOf(text)) {
    if (typeof step === 'string') runs.push({ text: shownAs(step), style: now })
    else now = styleAs(now, step)
  }
  return runs
}

const shownAs = (text: string): string => visible(text).replaceAll('\t', '    ')

/** A column of the terminal; the second one of a wide character has an empty text. */
type Cell = Run

/**
 * What remains of writings over each other. Erased text stays where nothing replaces it: a progress bar that
 * was wiped at its end is the last thing a person wants to read.
 */
function overwritten(writings: readonly string[], before: Style, columnsOf: typeof cellsOf): Run[] {
  let cells: Cell[] = []
  let shown: Cell[] = []
  let style = before
  for (const writing of writings) {
    let at = 0
    for (const step of stepsOf(writing)) {
      if (typeof step === 'string') at = write(cells, at, columnsOf(shownAs(step)), style)
      else if (step.erase !== undefined) cells = erased(cells, at, step.erase)
      else style = styleAs(style, step)
    }
    shown = isBlank(cells) ? shown : [...cells]
  }
  return shown
}

const isBlank = (cells: readonly Cell[]): boolean => cells.every(({ text }) => text.trim() === '')

/** Writes from a column on, and returns the column after it. */
function write(
  cells: Cell[],
  from: number,
  characters: ReturnType<typeof cellsOf>,
  style: Style,
): number {
  while (cells.length < from) cells.push({ text: ' ', style: plain })
  let at = from
  for (const { text: character, columns } of characters) {
    if (columns === 0) appendTo(cells, at - 1, character)
    else
      put(
        cells,
        at,
        Array.from({ length: columns }, (_, nth) => (nth ? '' : character)),
        style,
      )
    at += columns
  }
  return at
}

/** An accent, which takes no column. */
function appendTo(cells: Cell[], at: number, text: string): void {
  const cell = cells[at]
  if (cell) cells[at] = { ...cell, text: cell.text + text }
}

/** Half of an overwritten wide character becomes a blank. */
function put(cells: Cell[], at: number, columns: readonly string[], style: Style): void {
  if (cells[at]?.text === '') blank(cells, at - 1)
  if (cells[at + columns.length]?.text === '') blank(cells, at + columns.length)
  for (const [nth, text] of columns.entries()) cells[at + nth] = { text, style }
}

function blank(cells: Cell[], at: number): void {
  const cell = cells[at]
  if (cell) cells[at] = { ...cell, text: ' ' }
}

function erased(cells: Cell[], at: number, how: string): Cell[] {
  if (how === '2') return []
  if (how !== '1') return cells.slice(0, at)
  return cells.map((cell, nth) => (nth <= at ? { text: ' ', style: plain } : cell))
}

/** Joins neighbours of the same style. */
function toPieces(runs: readonly Run[]): Piece[] {
  const pieces: Piece[] = []
  let at = 0
  let last: Style | null = null
  for (const { text, style } of runs) {
    const piece = pieces.at(-1)
    if (piece && style === last) piece.text += text
    else if (text !== '') pieces.push({ ...style, at, text })
    if (text !== '') last = style
    at += text.length
  }
  return pieces
}
