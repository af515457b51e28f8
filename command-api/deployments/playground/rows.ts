import type { Playground, PlaygroundEvent } from '../../../events/playground.ts'
import { noSampling } from '../../../schemas/playground.ts'
import type { Decided } from '../../commit/commit.ts'
import type { Transaction } from '../../commit/event-store.ts'

type Changed = Pick<Decided<Playground, PlaygroundEvent>, 'events' | 'now'>

/** Changes the rows that gateways read, in the transaction of the events. */
export async function savePlayground(
  tx: Transaction,
  { events, now }: Changed,
  params: object = noSampling,
): Promise<void> {
  for (const { type, data } of events)
    if (type === 'playground.ended')
      await tx.query(
        `update write.playground_session set ended_at = $2, ended_as = $3, end_reason = $4
          where session_id = $1`,
        [data.session_id, now, data.state, data.reason],
      )
    else
      await tx.query(
        `insert into write.playground_session
           (session_id, username, deployment_id, owns, artifact_id, revision_id, model, params,
            idle_timeout_s, max_lifetime_s, created_at, last_used_at, expires_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12)`,
        [
          ...[data.session_id, data.username, data.deployment_id, data.owns],
          ...[data.artifact_id, data.revision_id, data.model, JSON.stringify(params)],
          ...[data.idle_timeout_s, data.max_lifetime_s, now, data.expires_at],
        ],
      )
}
