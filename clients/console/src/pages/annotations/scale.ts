/** The keys for the points of a scale, in order: the digits themselves where they fit, else `1` for the lowest of five points. */
export function pointsOf(
  { scale_min: min, scale_max: max }: { scale_min: number; scale_max: number },
  count = 5,
): { key: string; value: number }[] {
  const isDigits = Number.isInteger(min) && Number.isInteger(max) && min >= 0 && max <= 9
  if (isDigits && max - min >= 2)
    return Array.from({ length: max - min + 1 }, (_, nth) => ({
      key: String(min + nth),
      value: min + nth,
    }))
  return Array.from({ length: count }, (_, nth) => ({
    key: String(nth + 1),
    value: Number((min + ((max - min) * nth) / (count - 1)).toPrecision(12)),
  }))
}

/** `14:59` */
export function clockOf(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
