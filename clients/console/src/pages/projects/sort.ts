import { isSortable, metricOf } from '../runs/columns.ts'

/** The order of the runs in a workspace, by a column. Absent: the newest first. */
export type Order = { column: string; isFalling: boolean }

/** As the list of runs takes it, and as the address keeps it. */
export const textOfOrder = ({ column, isFalling }: Order): string =>
  `${isFalling ? '-' : ''}${column}`

export function orderFrom(text: string | undefined): Order | null {
  const [, minus, column = ''] = /^(-?)(.+)$/s.exec(text ?? '') ?? []
  return isSortable(column) ? { column, isFalling: minus === '-' } : null
}

/** The metric of an order; undefined for any other. */
export const metricOfOrder = (order: Order | null): string | undefined =>
  order === null ? undefined : metricOf(order.column)?.key

/** The next order after a click on a column head: descending, ascending, the newest first. */
export function nextOrder(column: string, now: Order | null): Order | null {
  if (now?.column !== column) return { column, isFalling: true }
  return now.isFalling ? { column, isFalling: false } : null
}

/** Every metric makes two choices. */
const mostMetrics = 50

/** The orders to choose from: by the last values of metrics, by other columns, and the current one. */
export function ordersOf(
  keys: readonly string[],
  columns: readonly string[],
  now: Order | null,
): Order[] {
  const offered = [...keys.slice(0, mostMetrics).map(key => `metric:${key}:last`), ...columns]
  const named = now === null || offered.includes(now.column) ? offered : [now.column, ...offered]
  return [...new Set(named)].flatMap(column => [
    { column, isFalling: false },
    { column, isFalling: true },
  ])
}
