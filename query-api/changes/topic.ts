import type { ChangeTables } from '../../projector/changes/table.ts'
import type { Reads } from '../reading/reads.ts'
import { type AccessTables, findRunIds } from '../rules/access.ts'
import { newestChange } from '../rules/newest-change.ts'
import type { Topic } from '../sse/topic.ts'
import { changesFor, changesOfRuns } from './feed.ts'

/** State changes: `jobs` for every run the caller may read, `job:<run_id>` for single runs. */
export const changeTopic = (reads: Reads<ChangeTables & AccessTables>): Topic => ({
  pattern: /^(jobs|job:.{1,128})$/,
  shape: "'jobs' and 'job:<run_id>'",
  async open(caller, names) {
    const ids = names.flatMap(name => (name === 'jobs' ? [] : name.slice('job:'.length)))
    const runIds = await findRunIds(reads, caller, ids, 'job')
    const check = () => findRunIds(reads, caller, runIds, 'job')
    // The history of a single run is short and sent in full; that of all runs is long, so the topic begins now.
    if (names.includes('jobs')) {
      const start = await newestChange(reads.as(caller))
      return { feed: changesFor(reads, caller), start, check }
    }
    return { feed: changesOfRuns(reads.shared(runIds), runIds), start: 0, check }
  },
})
