import { cellsOf } from '../../../../../columns.ts'
import { visible } from '../../../words/visible.ts'

/** A piece of a line, as a terminal would show it. */
export type Piece = {
  /** Where it begins in the remaining line. */
  at: number
  text: string
  colour: Colour | null
  isBold: boolean
  isFaint: boolean
}

export type Colour = 'black' | 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan' | 'white'

const names: readonly Colour[] = [
  'black',
  'red',
  'green',
  'yellow',
  'blue',
  'magenta',
  'cyan',
  'white',
]

type Style = Omit<Piece, 'text' | 'at'>

const plain: Style = { colour: null, isBold: false, isFaint: false }

const esc = String.fromCharCode(0x1b)
const bell = String.fromCharCode(0x07)
/** Terminal sequences: those for styles (`m`) are applied, all others removed. */
const sequence = new RegExp(
  [
    `${esc}\\[([0-9;:]*)m`,
    `${esc}\\[[0-?]*[ -/]*[@-~]`,
    `${esc}\\][^${bell}${esc}]*(?:${bell}|${esc}\\\\)?`,
    `${esc}[ -/]*[0-~]?`,
  ].join('|'),
  'g',
)

/** A line in pieces of one style each; text overwritten after a carriage return is removed. */
export function piecesOf(line: string): Piece[] {
  const pieces: Piece[] = []
  let style = plain
  let from = 0
  const text = overwritten(line)
  for (const found of text.matchAll(sequence)) {
    add(pieces, text.slice(from, found.index), { ...style, at: from })
    if (found[1] !== undefined) style = styled(style, found[1])
    from = found.index + found[0].length
  }
  add(pieces, text.slice(from), { ...style, at: from })
  return pieces
}

function add(pieces: Piece[], text: string, style: Style & { at: number }): void {
  if (text !== '') pieces.push({ ...style, text: visible(text).replaceAll('\t', '    ') })
}

/** The visible line after its carriage returns: the last overwrite, and the earlier text that it did not reach. */
export function overwritten(line: string): string {
  if (!line.includes('\r')) return line
  const writings = line.replace(/\r+$/, '').split('\r')
  const last = writings.pop() ?? ''
  const before = writings.findLast(writing => writing !== '') ?? ''
  const isStyled = last.includes(esc) || before.includes(esc)
  return isStyled ? last || before : last + after(before, last)
}

/** The part of some text to the right of another written over it; half a wide character becomes a blank. */
function after(before: string, over: string): string {
  let covered = 0
  for (const { columns } of cellsOf(over)) covered += columns
  let rest = ''
  let at = 0
  for (const cell of cellsOf(before)) {
    if (at >= covered) rest += cell.text
    else if (at + cell.columns > covered) rest += ' '
    at += cell.columns
  }
  return rest
}

function styled(style: Style, parameters: string): Style {
  const codes = parameters === '' ? [0] : parameters.split(/[;:]/).map(Number)
  let now = style
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0
    const extended = code === 38 || code === 48 ? extendedAt(codes, at) : null
    if (extended) {
      at += extended.length - 1
      if (code === 38) now = { ...now, colour: extended.colour }
    } else now = withCode(now, code)
  }
  return now
}

function withCode(style: Style, code: number): Style {
  if (code === 0) return plain
  if (code === 1) return { ...style, isBold: true }
  if (code === 2) return { ...style, isFaint: true }
  if (code === 22) return { ...style, isBold: false, isFaint: false }
  if (code === 39) return { ...style, colour: null }
  const nth = code >= 90 && code <= 97 ? code - 90 : code - 30
  return nth >= 0 && nth < 8 ? { ...style, colour: names[nth] ?? null } : style
}

/** `38;5;n` and `38;2;r;g;b`, as the nearest of the eight named colours. */
function extendedAt(
  codes: readonly number[],
  at: number,
): { length: number; colour: Colour | null } | null {
  if (codes[at + 1] === 5) return { length: 3, colour: ofPalette(codes[at + 2] ?? 0) }
  if (codes[at + 1] !== 2) return null
  const [r = 0, g = 0, b = 0] = codes.slice(at + 2, at + 5)
  return { length: 5, colour: nearest(r, g, b) }
}

function ofPalette(n: number): Colour | null {
  if (n < 16) return names[n % 8] ?? null
  if (n >= 232) return null
  const cube = n - 16
  const level = (value: number) => (value === 0 ? 0 : 55 + value * 40)
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6))
}

/** Greys use the colour of plain text. */
function nearest(r: number, g: number, b: number): Colour | null {
  const most = Math.max(r, g, b)
  if (most - Math.min(r, g, b) < 40) return null
  const isHigh = (value: number) => value > most * 0.6
  return names[Number(isHigh(r)) + 2 * Number(isHigh(g)) + 4 * Number(isHigh(b))] ?? null
}
