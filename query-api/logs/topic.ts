import type { LogTables } from '../../projector/logs/table.ts'
import type { AccessTables } from '../access.ts'
import type { Reads } from '../reads.ts'
import { type Topic, topicOfOneRun } from '../topic.ts'
import { logFeed } from './feed.ts'
import { readLogState } from './read.ts'

/** `logs:<run_id>`: the lines of one run. */
export const logTopic = (reads: Reads<LogTables & AccessTables>): Topic =>
  topicOfOneRun({
    name: 'logs',
    reads,
    feed: logFeed,
    head: async (db, runId) => (await readLogState(db, runId)).last,
  })
