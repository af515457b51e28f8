import { axisNumber, shortNumber } from '../words/amounts.ts'
import type { Scalar } from './axis.ts'

export type Tick = { at: number; text: string }

/** Places values between 0 and 1; null where a value has no place. */
export type Scale = { placeOf: (value: Scalar) => number | null; ticks: readonly Tick[] }

const wanted = 5

/** A linear or logarithmic scale for numbers; otherwise each value has a place, in order. */
export function scaleOf(values: readonly Scalar[], isLog: boolean): Scale {
  const known = values.filter(value => value !== null)
  const numbers = known.filter(isNumber)
  return numbers.length === known.length
    ? numeric(isLog ? numbers.filter(value => value > 0) : numbers, isLog)
    : ordinal([...new Set(known.map(String))].sort())
}

const isNumber = (value: Scalar): value is number =>
  typeof value === 'number' && Number.isFinite(value)

/** Positive numbers that span more than two orders of magnitude, such as learning rates: a logarithmic scale suits them. */
export function isWide(values: readonly Scalar[]): boolean {
  const numbers = values.filter(isNumber)
  const low = Math.min(...numbers)
  return low > 0 && Math.max(...numbers) / low > 100
}

function ordinal(texts: readonly string[]): Scale {
  const at = (nth: number) => (texts.length < 2 ? 0.5 : nth / (texts.length - 1))
  const stride = Math.ceil(texts.length / 8)
  return {
    placeOf: value => {
      const nth = value === null ? -1 : texts.indexOf(String(value))
      return nth < 0 ? null : at(nth)
    },
    ticks: texts.flatMap((text, nth) => (nth % stride === 0 ? [{ at: at(nth), text }] : [])),
  }
}

function numeric(numbers: readonly number[], isLog: boolean): Scale {
  const low = numbers.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const high = numbers.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  if (numbers.length === 0) return { placeOf: () => null, ticks: [] }
  const unit = isLog ? Math.log10 : (value: number) => value
  const [from, to] = [unit(low), unit(high)]
  const placeAt = (value: number) => (to === from ? 0.5 : (unit(value) - from) / (to - from))
  return {
    placeOf: value => (isNumber(value) && (!isLog || value > 0) ? placeAt(value) : null),
    ticks: (isLog ? decades(low, high) : evenly(low, high)).map(({ value, text }) => ({
      at: placeAt(value),
      text,
    })),
  }
}

function evenly(low: number, high: number): { value: number; text: string }[] {
  if (low === high) return [{ value: low, text: shortNumber(low, 4) }]
  const rough = (high - low) / wanted
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map(by => by * power).find(one => one >= rough) ?? rough
  const first = Math.ceil(low / step)
  const count = Math.floor(high / step) - first + 1
  return Array.from({ length: Math.max(0, count) }, (_, nth) => {
    const value = (first + nth) * step
    return { value, text: axisNumber(value, step) }
  })
}

/** Powers of ten; the ends, where fewer than two lie between them. */
function decades(low: number, high: number): { value: number; text: string }[] {
  const [from, to] = [Math.ceil(Math.log10(low)), Math.floor(Math.log10(high))]
  const stride = Math.max(1, Math.ceil((to - from + 1) / wanted))
  const powers = Array.from({ length: Math.max(0, to - from + 1) }, (_, nth) => from + nth)
  const values =
    powers.length < 2
      ? [...new Set([low, high])]
      : powers.filter((_, nth) => nth % stride === 0).map(power => 10 ** power)
  return values.map(value => ({ value, text: shortNumber(value, 2) }))
}

/** The colour at a place between 0 and 1; that of unknown values is grey. */
export const colourAt = (place: number | null): string =>
  place === null
    ? 'var(--line-strong)'
    : `color-mix(in oklab, var(--curve-2) ${Math.round(place * 100)}%, var(--curve-1))`
