import { sql } from 'kysely'

/** SQL condition on a row of traffic, as the sums of days count it (docs/operate/traffic.md). */
export const isError = sql<boolean>`(status >= 400 or coalesce(error_source in ('gateway', 'engine'), false))`
