import type { Colour, Name, Style } from './style.ts'

/** The colours of a piece: a class where the console has its own shade, or values that hold for light and dark. */
type Ink = { name: Name | null; color?: string; background?: string }

/** A colour in light and in dark; the same twice unless it is one of the console. */
type Pair = readonly [light: string, dark: string]

const ofText: Pair = ['#1b2026', '#e7e9ec']
const ofPanel: Pair = ['#ffffff', '#16191d']

/** The shades of xterm, for names that stand next to another colour. */
const shades: Readonly<Record<Name, string>> = {
  black: '#000000',
  red: '#cd0000',
  green: '#00cd00',
  yellow: '#cdcd00',
  blue: '#0000ee',
  magenta: '#cd00cd',
  cyan: '#00cdcd',
  white: '#e5e5e5',
}

/** The colours of a style, readable on their ground, whatever a program asked for: equal ones would hide the text. */
export function inkOf({ colour, ground, isReversed, isFaint }: Style): Ink {
  if (ground === null && !isReversed && !isValue(colour)) return { name: colour }
  const text = toPair(colour) ?? ofText
  const behind = toPair(ground) ?? ofPanel
  const [front, back] = isReversed ? [behind, text] : [text, behind]
  const pairs = [0, 1] as const
  const [light, dark] = pairs.map(nth =>
    readable(isFaint ? mixed(front[nth], back[nth], 0.3) : front[nth], back[nth]),
  )
  const hasGround = ground !== null || isReversed
  return {
    name: null,
    color: `light-dark(${light}, ${dark})`,
    ...(hasGround && { background: `light-dark(${back.join(', ')})` }),
  }
}

const isValue = (colour: Colour | null): colour is `#${string}` => colour?.startsWith('#') === true

function toPair(colour: Colour | null): Pair | null {
  if (colour === null) return null
  const value = isValue(colour) ? colour : shades[colour]
  return [value, value]
}

/** WCAG asks for 4.5; a marked line has a darker ground. */
const enough = 5

function readable(colour: string, ground: string): string {
  const towards = luminance(ground) > 0.18 ? '#000000' : '#ffffff'
  for (let share = 0; share < 1; share += 0.1) {
    const tried = mixed(colour, towards, share)
    if (contrast(tried, ground) >= enough) return tried
  }
  return towards
}

export function contrast(a: string, b: string): number {
  const [high = 1, low = 0] = [luminance(a), luminance(b)].sort((one, other) => other - one)
  return (high + 0.05) / (low + 0.05)
}

function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = channelsOf(colour).map(value => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function mixed(from: string, to: string, share: number): string {
  const ends = channelsOf(to)
  const channels = channelsOf(from).map((value, nth) =>
    Math.round(value + ((ends[nth] ?? value) - value) * share),
  )
  return `#${channels.map(value => value.toString(16).padStart(2, '0')).join('')}`
}

const channelsOf = (colour: string): number[] =>
  [1, 3, 5].map(at => Number.parseInt(colour.slice(at, at + 2), 16))
