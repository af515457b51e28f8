type Scale = { scale_min: number; scale_max: number }

/** For a scale whose points are not digits. */
const usualPoints = 5

const isDigits = ({ scale_min: min, scale_max: max }: Scale) =>
  Number.isInteger(min) && Number.isInteger(max) && min >= 0 && max <= 9 && max - min >= 2

/** The points of a scale that people choose from: whole numbers where they are digits, else five points. */
export function pointsOf(scale: Scale): number[] {
  const { scale_min: min, scale_max: max } = scale
  if (isDigits(scale)) return Array.from({ length: max - min + 1 }, (_, nth) => min + nth)
  return Array.from({ length: usualPoints }, (_, nth) =>
    Number((min + ((max - min) * nth) / (usualPoints - 1)).toPrecision(12)),
  )
}

/** Their keys: the digits themselves, else `1` for the lowest. */
export const keysOf = (scale: Scale): { key: string; value: number }[] =>
  pointsOf(scale).map((value, nth) => ({
    key: String(isDigits(scale) ? value : nth + 1),
    value,
  }))

/** The higher one of two that are as near. */
export const nearestPoint = (scale: Scale, value: number): number =>
  pointsOf(scale).reduce((best, point) =>
    Math.abs(point - value) <= Math.abs(best - value) ? point : best,
  )
