import type { ColumnType } from 'kysely'
import type { Quota } from '../../schemas/quotas.ts'

export type QuotaTables = {
  quotas: { username: string; quota: ColumnType<Omit<Quota, 'default'>, string, string> }
}
