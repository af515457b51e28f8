import type { Static } from 'typebox'
import type { queueList } from '../../../../../schemas/queue.ts'

/** What `GET /api/queue` answers. */
export type Queue = Static<typeof queueList>
