/** The order of the runs in a workspace: by the last value of a metric. Absent: the newest first. */
export type Order = { key: string; isFalling: boolean }

/** As the list of runs takes it, and as the address keeps it. */
export const textOfOrder = ({ key, isFalling }: Order): string =>
  `${isFalling ? '-' : ''}metric:${key}:last`

export function orderFrom(text: string | undefined): Order | null {
  const [, minus, key] = /^(-?)metric:(.+):last$/s.exec(text ?? '') ?? []
  return key === undefined ? null : { key, isFalling: minus === '-' }
}

/** Every metric makes two choices. */
const mostMetrics = 50

/** The orders to choose from, also the current one. */
export function ordersOf(keys: readonly string[], now: Order | null): Order[] {
  const few = keys.slice(0, mostMetrics)
  const named = now === null || few.includes(now.key) ? few : [now.key, ...few]
  return named.flatMap(key => [
    { key, isFalling: false },
    { key, isFalling: true },
  ])
}
