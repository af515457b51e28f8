import type { Person } from '../../auth/caller.ts'
import type { ChangeTables } from '../../projector/changes/table.ts'
import { type AccessTables, findRun } from '../access.ts'
import { newestChange } from '../newest-change.ts'
import type { Reads } from '../reads.ts'
import type { Topic } from '../topic.ts'
import { changesFor, changesOfRuns } from './feed.ts'

/** State changes: `jobs` of every run the caller may read, `job:<run_id>` of single ones. */
export const changeTopic = (reads: Reads<ChangeTables & AccessTables>): Topic => ({
  pattern: /^(jobs|job:.{1,128})$/,
  shape: "'jobs' and 'job:<run_id>'",
  async open(caller, names) {
    const ids = names.flatMap(name => (name === 'jobs' ? [] : name.slice('job:'.length)))
    const runIds = await readableRuns(reads, caller, ids)
    const check = () => readableRuns(reads, caller, runIds)
    // The whole history of single runs is short; that of all runs is not, so it begins now.
    if (names.includes('jobs')) {
      const start = await newestChange(reads.as(caller))
      return { feed: changesFor(reads, caller), start, check }
    }
    return { feed: changesOfRuns(reads.shared(runIds), runIds), start: 0, check }
  },
})

async function readableRuns(
  reads: Reads<AccessTables>,
  caller: Person,
  ids: readonly string[],
): Promise<string[]> {
  const runs = await Promise.all(ids.map(id => findRun(reads, caller, id, 'job')))
  return runs.map(run => run.run_id)
}
