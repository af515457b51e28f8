/** `2 h 5 min`, `3 min 20 s`, `12 s` */
export function lengthOf(duration: number): string {
  const seconds = Math.max(0, Math.round(duration))
  const [h, min, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  if (h > 0) return `${h} h ${min} min`
  return min > 0 ? `${min} min ${s} s` : `${s} s`
}

/** With at most `digits` significant digits, and an exponent where the plain form would be long. */
export function shortNumber(value: number, digits = 6): string {
  const rounded = Number(value.toPrecision(Math.min(15, Math.max(1, digits))))
  const size = Math.abs(rounded)
  return size !== 0 && (size < 1e-4 || size >= 1e6) ? rounded.toExponential() : String(rounded)
}

/** A label of an axis: as many digits as tell it from the next one, `increment` away. */
export function axisNumber(value: number, increment: number): string {
  // What adding up the increments leaves where zero is meant.
  if (Math.abs(value) < increment / 1e6) return '0'
  const ofIncrement = Number(increment.toPrecision(3)).toExponential()
  const decimals = ofIncrement.slice(0, ofIncrement.indexOf('e')).replace(/^\d\.?/, '').length
  const orders = Math.floor(Math.log10(Math.abs(value))) - Math.floor(Math.log10(increment))
  return shortNumber(value, orders + 1 + decimals)
}
