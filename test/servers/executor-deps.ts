import type { Pool } from 'pg'
import { eventStoreOn } from './event-store.ts'

/** What an executor's commands need, without the keys of a server: jobs with secrets cannot be launched. */
export const executorDepsOn = (pool: Pool) => ({
  store: eventStoreOn(pool),
  pool,
  now: () => new Date(),
  baseUrl: () => 'http://127.0.0.1:9',
  sealing: {
    seal(): never {
      throw new Error('there is no sealing key here')
    },
    open: async () => null,
  },
})
