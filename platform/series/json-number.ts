/** JSON has no non-finite numbers; these strings represent them in requests and responses. */
export type JsonNumber = number | 'NaN' | 'Infinity' | '-Infinity'

export function toJsonNumber(value: number): JsonNumber {
  if (Number.isFinite(value)) return value
  if (Number.isNaN(value)) return 'NaN'
  return value > 0 ? 'Infinity' : '-Infinity'
}

export const fromJsonNumber = (value: JsonNumber): number =>
  typeof value === 'number' ? value : Number(value)
