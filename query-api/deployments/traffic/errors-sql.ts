import { sql } from 'kysely'

/** SQL condition on a traffic row: whether it is an error, as the daily sums count it (docs/operate/traffic.md). */
export const isError = sql<boolean>`(status >= 400 or coalesce(error_source in ('gateway', 'engine'), false))`
