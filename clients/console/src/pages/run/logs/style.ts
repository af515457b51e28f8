/** The eight colours that the console has in its own shades, or a colour by its value (`#rrggbb`). */
export type Name = 'black' | 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan' | 'white'
export type Colour = Name | `#${string}`

export type Style = {
  colour: Colour | null
  /** Behind the text. */
  ground: Colour | null
  isBold: boolean
  isFaint: boolean
  isItalic: boolean
  isUnderlined: boolean
  isStruck: boolean
  isReversed: boolean
}

export const plain: Style = {
  colour: null,
  ground: null,
  isBold: false,
  isFaint: false,
  isItalic: false,
  isUnderlined: false,
  isStruck: false,
  isReversed: false,
}

const names = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const

/** Effects of codes. Concealed text (8) and blinking (5, 6) are missing on purpose: a log hides nothing. */
const effects: Readonly<Record<number, Partial<Style>>> = {
  0: plain,
  1: { isBold: true },
  2: { isFaint: true },
  3: { isItalic: true },
  4: { isUnderlined: true },
  7: { isReversed: true },
  9: { isStruck: true },
  21: { isUnderlined: true },
  22: { isBold: false, isFaint: false },
  23: { isItalic: false },
  24: { isUnderlined: false },
  27: { isReversed: false },
  29: { isStruck: false },
  39: { colour: null },
  49: { ground: null },
}

const maxCodes = 64

/** The style after a sequence `ESC [ parameters m`. Unknown and incomplete codes change nothing. */
export function styled(style: Style, parameters: string): Style {
  const codes = parameters.split(';').slice(0, maxCodes)
  let now = style
  for (let at = 0; at < codes.length; at++) {
    const [code = 0, ...inside] = (codes[at] ?? '').split(':').map(Number)
    if (takesColour(code)) {
      const { colour, taken } = colourAfter(inside, codes.slice(at + 1))
      at += taken
      now = withColour(now, code, colour)
    } else now = { ...now, ...effectOf(code, inside[0]) }
  }
  return now
}

/** Codes for the colour of text, ground and underline. */
const takesColour = (code: number): boolean => code === 38 || code === 48 || code === 58

function withColour(style: Style, code: number, colour: Colour | null): Style {
  if (colour === null || code === 58) return style
  return code === 38 ? { ...style, colour } : { ...style, ground: colour }
}

/** `4:0` is no underline; its other kinds (`4:3`, curly) are one here. */
const effectOf = (code: number, kind: number | undefined): Partial<Style> =>
  code === 4 && kind === 0 ? { isUnderlined: false } : (effects[code] ?? ofEight(code))

/** In colons the colour is part of its code; with semicolons the following codes belong to it. */
const colourAfter = (inside: readonly number[], codes: readonly string[]): Extended =>
  inside.length > 0 ? { colour: ofColons(inside), taken: 0 } : extended(codes.map(Number))

/** `30`–`37`, `40`–`47` and their bright variants `90`–`97`, `100`–`107`, which share the shades. */
function ofEight(code: number): Partial<Style> {
  const colour = names[code % 10]
  const tens = Math.floor(code / 10)
  if (colour === undefined) return {}
  if (tens === 3 || tens === 9) return { colour }
  return tens === 4 || tens === 10 ? { ground: colour } : {}
}

type Extended = { colour: Colour | null; taken: number }

/** What follows `38`: `5;n`, or `2;r;g;b`. */
function extended([kind, ...values]: readonly number[]): Extended {
  if (kind === 5) return { colour: ofPalette(values[0]), taken: 2 }
  if (kind === 2) return { colour: ofChannels(values.slice(0, 3)), taken: 4 }
  return { colour: null, taken: 0 }
}

/** `5:n`, `2:r:g:b`, or `2:space:r:g:b`. */
function ofColons([kind, ...values]: readonly number[]): Colour | null {
  if (kind === 5) return ofPalette(values[0])
  return kind === 2 ? ofChannels(values.slice(values.length > 3 ? 1 : 0).slice(0, 3)) : null
}

const isByte = (value: number): boolean => Number.isInteger(value) && value >= 0 && value <= 255

function ofPalette(n = Number.NaN): Colour | null {
  if (!isByte(n)) return null
  if (n < 16) return names[n % 8] ?? null
  if (n >= 232) return ofChannels(Array(3).fill(8 + (n - 232) * 10))
  const level = (value: number) => (value === 0 ? 0 : 55 + value * 40)
  const cube = n - 16
  return ofChannels([Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map(level))
}

const ofChannels = (channels: readonly number[]): Colour | null =>
  channels.length === 3 && channels.every(isByte)
    ? `#${channels.map(value => value.toString(16).padStart(2, '0')).join('')}`
    : null
