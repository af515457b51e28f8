import { type Kysely, sql } from 'kysely'
import type { AlertTables } from '../../projector/alerts/table.ts'
import type { Reads } from '../reading/reads.ts'
import type { AccessTables } from '../rules/access.ts'
import type { Feed } from '../sse/feed.ts'
import { rowFeed } from '../sse/row-feed.ts'
import { type Topic, topicOfRuns } from '../sse/topic.ts'
import { toAlert } from './record.ts'

const atOnce = 200

/** `alerts:<run_id>`: the run's alerts from the first on; each is repeated once it is resolved. */
export const alertTopic = (reads: Reads<AlertTables & AccessTables>): Topic =>
  topicOfRuns({ name: 'alerts', reads, feed: alertsOfRuns })

const alertsOfRuns = (db: Kysely<AlertTables>, runIds: readonly string[]): Feed =>
  rowFeed({
    key: `alerts of ${[...runIds].sort().join(',')}`,
    wakes: { projections: ['decisions'], key: null },
    event: 'alert',
    atOnce,
    async rowsAfter(after) {
      const rows = await db
        .selectFrom('alerts')
        .selectAll()
        .where(sql<boolean>`run_id = any(${runIds})`)
        .where('change', '>', after)
        .orderBy('change')
        .limit(atOnce)
        .execute()
      return { rows, head: rows.at(-1)?.change ?? after }
    },
    content: toAlert,
  })
