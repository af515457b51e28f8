import type { Pool } from 'pg'
import type { Reply } from './api.ts'
import { decisionsAreDone } from './decisions-done.ts'
import { until } from './until.ts'

type Settling = {
  pool: Pool
  /** Calls the API as an administrator. */
  call<T>(method: string, path: string): Promise<Reply<T>>
}

/**
 * Waits until nothing changes any longer: no duty caused by an event is due, and all decisions are applied. The lag of
 * the projections alone does not cover decisions that are not on the log yet.
 */
export const settled = (forge: Settling) =>
  until('everything is done and projected', 30_000, async () => {
    if (!(await decisionsAreDone(forge.pool))) return false
    const { body } = await forge.call<{ projections: { lag_records: number }[] }>(
      'GET',
      '/api/admin/projections',
    )
    return body.projections.every(row => row.lag_records === 0)
  })
