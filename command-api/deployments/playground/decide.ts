import type { Playground, PlaygroundEvent } from '../../../events/playground.ts'

/** A session that is over stays as it ended. */
export const endPlayground = (
  session: Playground,
  state: 'closed' | 'expired' | 'failed',
  reason: string | null,
): PlaygroundEvent[] =>
  session === null || session.isOver
    ? []
    : [{ type: 'playground.ended', data: { session_id: session.session_id, state, reason } }]
