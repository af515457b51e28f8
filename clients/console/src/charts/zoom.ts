export type Range = { from: number; to: number } | null

type View = { from: number; to: number; at: number }

/** The range scaled by `factor` about `at`. */
export const zoomedBy = ({ from, to, at }: View, factor: number): NonNullable<Range> => ({
  from: at - (at - from) * factor,
  to: at + (to - at) * factor,
})

/** The range moved along its axis by a share of its width; on a logarithmic axis by as many decades. */
export function pannedBy(
  { from, to }: NonNullable<Range>,
  share: number,
  isLog: boolean,
): NonNullable<Range> {
  if (isLog && from > 0) {
    const factor = (to / from) ** share
    return { from: from * factor, to: to * factor }
  }
  const by = (to - from) * share
  return { from: from + by, to: to + by }
}

const separator = '..'

/** A range in the format of the address; undefined for everything. */
export const asText = (range: Range): string | undefined =>
  range === null ? undefined : `${range.from}${separator}${range.to}`

/** Null for everything, and for text that is not a range. */
export function rangeFrom(text: string | undefined): Range {
  const parts = (text ?? '').split(separator)
  const [from = Number.NaN, to = Number.NaN] = parts.map(part =>
    part === '' ? Number.NaN : Number(part),
  )
  return parts.length === 2 && Number.isFinite(from) && from < to && Number.isFinite(to)
    ? { from, to }
    : null
}
