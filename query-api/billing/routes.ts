import { Readable } from 'node:stream'
import type { Pool } from 'pg'
import type { Person } from '../../auth/caller.ts'
import { type Route, route } from '../../auth/route.ts'
import type { Clock } from '../../platform/time.ts'
import {
  type EntryFilters,
  entriesQuery,
  entryRow,
  exportQuery,
  summaryQuery,
  summaryRow,
} from '../../schemas/billing.ts'
import { pagedList } from '../reading/list.ts'
import { asCaller, type Reads } from '../reading/reads.ts'
import type { BilledTables } from '../rules/billed.ts'
import { daysOfMonth } from '../rules/month.ts'
import { type Asked, everyEntry, readEntries } from './entries.ts'
import { exportEntries } from './export.ts'
import { ratesRoute } from './rates.ts'
import { readSummary } from './summary.ts'

export type BillingDeps = { reads: Reads<BilledTables>; pool: Pool; now: Clock }

type Request = { caller: Person; query: EntryFilters }

export const billingRoutes = ({ reads, pool, now }: BillingDeps): Route[] => {
  const asked = ({ caller, query }: Request): Asked => ({
    ...query,
    ...daysOfMonth(query.month, now()),
    caller,
  })
  return [
    pagedList({
      ...asCaller(reads),
      path: '/api/billing/entries',
      tag: 'billing',
      summary: 'The ledger of a month, of yourself and your projects',
      query: entriesQuery,
      row: entryRow,
      read: ({ db }, request, page) => readEntries(db, asked(request), page),
    }),
    pagedList({
      ...asCaller(reads),
      path: '/api/billing/summary',
      tag: 'billing',
      summary:
        'The cost of a month by user, project, run, day or kind, of yourself and your projects',
      query: summaryQuery,
      row: summaryRow,
      read: ({ db }, request, page) =>
        readSummary(db, {
          ...asked(request),
          ...page,
          group: request.query.group ?? 'project',
          now: now(),
        }),
    }),
    route({
      method: 'GET',
      path: '/api/billing/export',
      credential: 'person',
      tag: 'billing',
      summary: 'The ledger of a month as a file',
      query: exportQuery,
      response: {
        mediaType: 'text/csv',
        description:
          'An entry a line, oldest first; `csv`: the fields of the entries, `focus`: the columns of FOCUS 1.0',
      },
      async handle({ caller, query, ctx }) {
        const { format = 'csv' } = query
        const { month, ...days } = daysOfMonth(query.month, now())
        ctx.type = 'text/csv; charset=utf-8'
        ctx.set('Content-Disposition', `attachment; filename="billing-${month}-${format}.csv"`)
        const pages = everyEntry(reads.as(caller), { ...query, ...days, caller })
        ctx.body = Readable.from(exportEntries(pages, format, month))
      },
    }),
    ratesRoute({ pool, now }),
  ]
}
