import { type Kysely, sql } from 'kysely'
import type { AlertTables } from '../../projector/alerts/table.ts'
import type { Reads } from '../reading/reads.ts'
import { type AccessTables, findRunIds } from '../rules/access.ts'
import type { Feed } from '../sse/feed.ts'
import { frame } from '../sse/sse.ts'
import type { Topic } from '../sse/topic.ts'
import { toAlert } from './record.ts'

const rowsAtOnce = 200

/** `alerts:<run_id>`: the run's alerts from the first on; each is repeated once it is resolved. */
export const alertTopic = (reads: Reads<AlertTables & AccessTables>): Topic => ({
  pattern: /^alerts:.{1,128}$/,
  shape: "'alerts:<run_id>'",
  async open(caller, names) {
    const ids = names.map(name => name.slice('alerts:'.length))
    const runIds = await findRunIds(reads, caller, ids)
    const check = () => findRunIds(reads, caller, runIds)
    return { feed: alertsOfRuns(reads.shared(runIds), runIds), start: 0, check }
  },
})

const alertsOfRuns = (db: Kysely<AlertTables>, runIds: readonly string[]): Feed => ({
  key: `alerts of ${[...runIds].sort().join(',')}`,
  wakes: { projections: ['decisions'], key: null },
  async read(after) {
    const rows = await db
      .selectFrom('alerts')
      .selectAll()
      .where(sql<boolean>`run_id = any(${runIds})`)
      .where('change', '>', after)
      .orderBy('change')
      .limit(rowsAtOnce)
      .execute()
    const text = rows.map(row => frame('alert', row.change, toAlert(row))).join('')
    return {
      frames: text === '' ? null : Buffer.from(text),
      last: rows.at(-1)?.change ?? after,
      more: rows.length === rowsAtOnce,
      end: null,
    }
  },
})
