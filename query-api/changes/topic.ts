import type { ChangeTables } from '../../projector/changes/table.ts'
import type { Reads } from '../reading/reads.ts'
import type { AccessTables } from '../rules/access.ts'
import { newestChange } from '../rules/newest-change.ts'
import { type Topic, topicOfRuns } from '../sse/topic.ts'
import { changesFor, changesOfRuns } from './feed.ts'

/** State changes and edits: `jobs` for every run the caller may read, `job:<run_id>` for single runs. */
export const changeTopic = (reads: Reads<ChangeTables & AccessTables>): Topic => {
  const ofRuns = topicOfRuns({ name: 'job', noun: 'job', reads, feed: changesOfRuns })
  return {
    pattern: /^(jobs|job:.{1,128})$/,
    shape: "'jobs' and 'job:<run_id>'",
    async open(caller, names) {
      const opened = await ofRuns.open(
        caller,
        names.filter(name => name !== 'jobs'),
      )
      // The history of a single run is short and sent in full; that of all runs is long, so the topic begins now.
      if (!names.includes('jobs')) return opened
      const start = await newestChange(reads.as(caller))
      return { ...opened, feed: changesFor(reads, caller), start }
    },
  }
}
