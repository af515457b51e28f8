/** Formats seconds: `0.4 s`, `12 s`, `3 m 05 s`, `2 h 10 m`, `4 d 3 h`. */
export function duration(seconds: number): string {
  const s = Math.max(0, seconds)
  if (s < 9.95) return `${s.toFixed(1)} s`
  const whole = Math.round(s)
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${two(whole % 60)} s`
  const minutes = Math.round(s / 60)
  if (minutes < 1440) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} m`
  const hours = Math.round(s / 3600)
  return `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** Like `duration`, for whole seconds, of which 0 means less than one. */
export const wholeDuration = (seconds: number): string =>
  seconds === 0 ? 'less than 1 s' : seconds < 10 ? `${seconds} s` : duration(seconds)

const two = (n: number) => String(n).padStart(2, '0')

/** `1 job`, `2 jobs`. */
export const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`

/** Formats bytes with decimal units, as disks and object stores do. */
export function size(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']
  let value = bytes
  let unit = 0
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${unit === 0 || value >= 99.95 ? value.toFixed(0) : value.toFixed(1)} ${units[unit]}`
}

/** Formats a number with at most `digits` significant digits; with an exponent only if the plain form is long. */
export function amount(value: number, digits = 4): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '-∞'
  if (value === 0) return '0'
  const magnitude = Math.abs(value)
  if (Number.isInteger(value) && magnitude < 1e6) return String(value)
  if (magnitude >= 1e6 || magnitude < 1e-4)
    return value
      .toExponential(digits - 2)
      .replace(/\.?0+e/, 'e')
      .replace('e+', 'e')
  return String(Number(value.toPrecision(digits)))
}

/** Metric values are numbers, or the texts "NaN", "Infinity" and "-Infinity", which JSON lacks as numbers. */
export const toNumber = (value: number | string | null): number =>
  value === null ? Number.NaN : Number(value)

const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/** Parses `90s`, `5m`, `2h`, `1d` (that long before `nowMs`) or an ISO time; null for anything else. */
export function instantMs(text: string, nowMs: number): number | null {
  const ago = /^(\d+(?:\.\d+)?)([smhdw])$/.exec(text)
  if (ago) return nowMs - Number(ago[1]) * (unitSeconds[ago[2] ?? 's'] ?? 1) * 1000
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? null : at
}
