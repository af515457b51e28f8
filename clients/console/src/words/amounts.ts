/** `2 h 5 min`, `3 min 20 s`, `12 s`, `3 d 4 h` */
export function lengthOf(duration: number): string {
  const seconds = Math.max(0, Math.round(duration))
  const [d, h] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3600) % 24]
  const [min, s] = [Math.floor(seconds / 60) % 60, seconds % 60]
  if (d > 0) return `${d} d ${h} h`
  if (h > 0) return `${h} h ${min} min`
  return min > 0 ? `${min} min ${s} s` : `${s} s`
}

/** With at most `digits` significant digits, and an exponent where the plain form would be long. */
export function shortNumber(value: number, digits = 6): string {
  const rounded = Number(value.toPrecision(Math.min(15, Math.max(1, digits))))
  const size = Math.abs(rounded)
  return size !== 0 && (size < 1e-4 || size >= 1e6) ? rounded.toExponential() : String(rounded)
}

/** A label of an axis: as many digits as distinguish it from the next one, `increment` away. */
export function axisNumber(value: number, increment: number): string {
  // Adding up the increments leaves this remainder where zero is meant.
  if (Math.abs(value) < increment / 1e6) return '0'
  const ofIncrement = Number(increment.toPrecision(3)).toExponential()
  const decimals = ofIncrement.slice(0, ofIncrement.indexOf('e')).replace(/^\d\.?/, '').length
  const orders = Math.floor(Math.log10(Math.abs(value))) - Math.floor(Math.log10(increment))
  return shortNumber(value, orders + 1 + decimals)
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** `1.5 GiB` */
export function bytesOf(bytes: number): string {
  const nth = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  const size = bytes / 1024 ** nth
  return `${nth === 0 || size >= 100 ? Math.round(size) : Number(size.toFixed(1))} ${units[nth]}`
}

const steps: readonly [seconds: number, unit: Intl.RelativeTimeFormatUnit][] = [
  [60, 'second'],
  [3600, 'minute'],
  [86_400, 'hour'],
  [86_400 * 30, 'day'],
  [86_400 * 365, 'month'],
  [Number.POSITIVE_INFINITY, 'year'],
]

/** `3 minutes ago`, in the reader's language; times in milliseconds of the epoch. */
export function agoOf(at: number, now: number, language: string): string {
  const seconds = (at - now) / 1000
  const nth = steps.findIndex(([most]) => Math.abs(seconds) < most)
  const [, unit] = steps[nth] ?? ['', 'year' as const]
  const size = nth === 0 ? 1 : (steps[nth - 1]?.[0] ?? 1)
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' })
  return format.format(Math.round(seconds / size), unit)
}
