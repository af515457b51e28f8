/** `2026-11`, in UTC. */
export const thisMonth = (now: Date): string => now.toISOString().slice(0, 7)

const startOf = (month: string, further = 0): number => {
  const [year = 0, nth = 1] = month.split('-').map(Number)
  return Date.UTC(year, nth - 1 + further)
}

export const monthBefore = (month: string): string =>
  new Date(startOf(month, -1)).toISOString().slice(0, 7)

/** What a month costs if its rest costs as much per second as its past; null for another month than this one. */
export function forecastOf(cost: number, month: string, now: Date): number | null {
  if (month !== thisMonth(now)) return null
  const start = startOf(month)
  return (cost * (startOf(month, 1) - start)) / Math.max(1, now.getTime() - start)
}
