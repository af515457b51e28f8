import type { Deps } from '../deps.ts'
import { rows } from '../effects/outcome.ts'
import { reactor } from '../effects/reactor.ts'

const mostCalls = 10_000
const kept = { calls: '7 days', dead: '30 days' }

/** Deletes old calls, those beyond the newest 10,000 of each plugin, and dead messages. */
export const callTrimmer = reactor<object, Pick<Deps, 'pool'>>({
  name: 'plugin-calls',
  repeat: 'local',
  every: { seconds: 600, payload: () => ({}) },
  atOnce: 1,
  perform: async () => [
    rows((tx, now) =>
      tx.query(
        `delete from write.plugin_call c using write.plugin p
          where c.plugin_id = p.plugin_id
            and (c.at < $1::timestamptz - interval '${kept.calls}'
                 or c.nth <= (select nth from write.plugin_call o where o.plugin_id = p.plugin_id
                               order by nth desc offset ${mostCalls} limit 1))`,
        [now],
      ),
    ),
    rows((tx, now) =>
      tx.query(
        `delete from write.plugin_message
          where is_dead and created_at < $1::timestamptz - interval '${kept.dead}'`,
        [now],
      ),
    ),
  ],
})
