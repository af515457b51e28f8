import type { DecisionEvent } from '../../events/all.ts'
import type { Recorded } from '../../events/event.ts'
import { prefixedId } from '../../platform/time.ts'
import type { PluginHook } from '../../schemas/plugin-words.ts'
import type { Deps } from '../deps.ts'
import { decisionFollower } from '../effects/follower.ts'
import { nothing, type Outcome, rows } from '../effects/outcome.ts'

/** Messages that wait for one plugin; later ones count as dead at once. */
const mostWaiting = 10_000

/** Queues the messages for plugins, in the order of the log. */
export const newMessageFollower = () =>
  decisionFollower<Pick<Deps, 'baseUrl'>>({
    name: 'plugin-messages',
    begins: 'end',
    onPoison: 'park',
    paceMs: 200,
    follow: async (event, { baseUrl }) => outcomeOf(event, baseUrl()),
  })

function outcomeOf(event: Recorded<DecisionEvent>, baseUrl: string): Outcome {
  const message = messageOf(event, baseUrl)
  if (message === null) return nothing
  const { hook, subject, data } = message
  return [
    rows((tx, now) =>
      tx.query(
        `insert into write.plugin_message (message_id, plugin_id, hook, subject, data, created_at, due_at, is_dead, error)
         select $1 || '_' || row_number() over (order by p.name), p.plugin_id, $2, $3, $4, $5, $5, p.is_full,
                case when p.is_full then '${mostWaiting} messages were waiting already' end
           from (select name, plugin_id,
                        (select count(*) from (select from write.plugin_message m
                                                where m.plugin_id = plugin.plugin_id and not m.is_dead
                                                limit ${mostWaiting}) waiting) >= ${mostWaiting} as is_full
                   from write.plugin where enabled and $2 = any(hooks)) p`,
        [prefixedId('msg'), hook, subject, JSON.stringify(data), now],
      ),
    ),
  ]
}

type Message = { hook: PluginHook; subject: string; data: Record<string, unknown> }

export function messageOf(event: Recorded<DecisionEvent>, baseUrl: string): Message | null {
  const { type, data, event_id, occurred_at } = event
  const common = { event_id, occurred_at }
  switch (type) {
    case 'job.succeeded':
    case 'job.failed':
    case 'job.stopped': {
      const { run_id, short_id, project, owner, attempt, reason, message, exit_code } = data
      return {
        hook: 'job.terminal',
        subject: short_id,
        data: {
          ...{ ...common, run_id, short_id, project, owner, attempt, exit_code, message },
          state: type.slice('job.'.length),
          state_reason: reason,
          url: `${baseUrl}/runs/${run_id}`,
        },
      }
    }
    case 'artifact.registered': {
      const { run_id, artifact_id, kind, path, step, size_bytes } = data
      return {
        hook: 'artifact.registered',
        subject: artifact_id,
        data: {
          ...{ ...common, artifact_id, run_id, kind, path, step, size_bytes },
          url: `${baseUrl}/runs/${run_id}`,
        },
      }
    }
    default:
      return null
  }
}
