import type { LogTables } from '../../projector/logs/table.ts'
import type { Reads } from '../reading/reads.ts'
import type { AccessTables } from '../rules/access.ts'
import { type Topic, topicOfOneRun } from '../sse/topic.ts'
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
