import { randomUUID } from 'node:crypto'

/** A sign-in of ada, as recorded on the log. */
export const loginEvent = (stream_version: number, event_id: string = randomUUID()) => ({
  event_id,
  type: 'user.login',
  schema_version: 1,
  stream: 'user-ada',
  stream_version,
  occurred_at: '2026-11-20T19:26:53.000Z',
  actor: { type: 'user', id: 'ada', via: 'test' },
  request_id: 'r',
  causation_id: null,
  data: { username: 'ada', sid: 's', via: 'test' },
})
