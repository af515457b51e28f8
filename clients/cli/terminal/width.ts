import stringWidth from 'string-width'
import { cellsOf } from '../../columns.ts'
import { harmless } from './harmless.ts'

/** Cuts plain text to at most `width` columns and marks the cut with …. */
export function truncate(text: string, width: number): string {
  if (stringWidth(text) <= width) return text
  let kept = ''
  let taken = 0
  for (const cell of cellsOf(text)) {
    if (taken + cell.columns > width - 1) break
    kept += cell.text
    taken += cell.columns
  }
  return width < 1 ? '' : `${kept}…`
}

export const padEnd = (text: string, width: number) =>
  text + ' '.repeat(Math.max(0, width - stringWidth(text)))

export const padStart = (text: string, width: number) =>
  ' '.repeat(Math.max(0, width - stringWidth(text))) + text

/** The last version of a line that was redrawn with carriage returns. */
export const lastVersion = (text: string) => text.replace(/\r+$/, '').split('\r').at(-1) ?? ''

/** Makes one line without cursor movement or colours. */
export const oneLine = (text: string): string =>
  harmless(lastVersion(text)).replaceAll('\t', '    ').replaceAll('\n', ' ')

/**
 * Breaks text between words, so that no line is wider than `width`; later lines begin with `indent`. A word that is wider,
 * such as an address, gets its own line. Null, for pipes and files, breaks nothing.
 */
export function wrapped(text: string, width: number | null, indent = ''): string[] {
  if (width === null || stringWidth(text) <= width) return [text]
  const lines: string[] = []
  let line = ''
  for (const [at, word] of text.split(' ').entries()) {
    const longer = at === 0 ? word : `${line} ${word}`
    if (line.trim() === '' || stringWidth(longer) <= width) line = longer
    else {
      lines.push(line)
      line = indent + word
    }
  }
  return [...lines, line]
}
