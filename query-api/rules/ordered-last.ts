import { sql } from 'kysely'

/**
 * The last value of a metric, in a row `s`, where runs are ordered or compared by it: NaN sorts with the runs that have no value,
 * which PostgreSQL would put above all numbers, and fulfils no comparison. Must match the index `metric_settled_last`.
 */
export const orderedLast = sql<number>`nullif(s.last, 'NaN')`
