import type { LogTables } from '../../projector/logs/table.ts'
import { type AccessTables, findRun } from '../access.ts'
import type { Reads } from '../reads.ts'
import { oneRun, type Topic } from '../topic.ts'
import { logFeed } from './feed.ts'
import { readLogState } from './read.ts'

/** `logs:<run_id>`: the lines of one run that arrive from now on; it never ends. */
export const logTopic = (reads: Reads<LogTables & AccessTables>): Topic => ({
  pattern: /^logs:.{1,128}$/,
  shape: "'logs:<run_id>' (one)",
  async open(caller, names) {
    const { run_id, db } = await findRun(reads, caller, oneRun('logs', names))
    const { last } = await readLogState(db, run_id)
    const feed = logFeed(reads.shared([run_id]), run_id)
    const check = () => findRun(reads, caller, run_id)
    return {
      feed: { ...feed, read: async after => ({ ...(await feed.read(after)), end: null }) },
      start: last,
      check,
    }
  },
})
