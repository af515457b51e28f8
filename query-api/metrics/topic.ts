import type { LogTables } from '../../projector/logs/table.ts'
import type { MetricTables } from '../../projector/metrics/table.ts'
import type { Reads } from '../reading/reads.ts'
import type { AccessTables } from '../rules/access.ts'
import { type Topic, topicOfOneRun } from '../sse/topic.ts'
import { pointFeed } from './feed.ts'
import { readHead } from './tail.ts'

/** `metrics:<run_id>`: the points of one run. */
export const metricTopic = (reads: Reads<MetricTables & LogTables & AccessTables>): Topic =>
  topicOfOneRun({
    name: 'metrics',
    reads,
    feed: (db, runId) => pointFeed(db, runId, null),
    head: readHead,
  })
