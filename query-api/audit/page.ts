import { type RawBuilder, sql } from 'kysely'
import type { AuditRow } from '../../schemas/audit.ts'
import { maxExactCount } from '../reading/page.ts'
import { columns, type StoredEvent } from './events.ts'

/** Counting stops here. */
export const maxCounted = maxExactCount + 1

/** `counted` is cut off at `maxCounted`. */
export type AuditPage = { rows: AuditRow[]; counted: number }

/** A page ends before it exceeds this much JSON, but always has at least one event. */
const pageBytes = 16 * 1024 * 1024

/** The found events that fit on a page, by `place`. */
export const fitting = (found: RawBuilder<unknown>): RawBuilder<StoredEvent> => sql<StoredEvent>`
  select ${sql.raw(columns)}
    from (select *, sum(bytes) over (order by place) - bytes as before
            from (select *, octet_length(data::text) as bytes from (${found}) found) sized) page
   where before = 0 or before + bytes <= ${pageBytes} order by place`
