import type { Static } from 'typebox'
import type { queueList } from '../../../../../schemas/queue.ts'

/** The response of `GET /api/queue`. */
export type Queue = Static<typeof queueList>
