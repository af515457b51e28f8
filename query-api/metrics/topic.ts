import type { LogTables } from '../../projector/logs/table.ts'
import type { MetricTables } from '../../projector/metrics/table.ts'
import { type AccessTables, findRun } from '../access.ts'
import type { Reads } from '../reads.ts'
import { oneRun, type Topic } from '../topic.ts'
import { pointFeed } from './feed.ts'
import { readHead } from './tail.ts'

/** `metrics:<run_id>`: the points of one run that arrive from now on; it never ends. */
export const metricTopic = (reads: Reads<MetricTables & LogTables & AccessTables>): Topic => ({
  pattern: /^metrics:.{1,128}$/,
  shape: "'metrics:<run_id>' (one)",
  async open(caller, names) {
    const { run_id, db } = await findRun(reads, caller, oneRun('metrics', names))
    const start = await readHead(db, run_id)
    const feed = pointFeed(reads.shared([run_id]), run_id, null)
    const check = () => findRun(reads, caller, run_id)
    return {
      feed: { ...feed, read: async after => ({ ...(await feed.read(after)), end: null }) },
      start,
      check,
    }
  },
})
