/** A value of a sample as text: JSON unless it already is text. */
export const reportedTextOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? String(value))

/** Rewards from `from` to `to`, both included. */
export type RewardRange = { from: number; to: number }

/** The range in an address; null: all rewards. */
export function rangeIn(text: string | undefined): RewardRange | null {
  const [, from, to] = /^(.+)\.\.(.+)$/.exec(text ?? '') ?? []
  const range = { from: Number(from), to: Number(to) }
  return Number.isFinite(range.from) && Number.isFinite(range.to) && range.from <= range.to
    ? range
    : null
}

/** In the format of the address. */
export const textOfRange = (range: RewardRange | null): string | undefined =>
  range === null ? undefined : `${range.from}..${range.to}`

export const isWithin = (reward: unknown, range: RewardRange | null): boolean =>
  range === null || (typeof reward === 'number' && reward >= range.from && reward <= range.to)
