import type { Deps } from '../deps.ts'
import { type AboutRun, aboutRun, alertsNow } from './run.ts'
import type { Watched } from './sightings.ts'

/** `isStale`: its alerts have changed since they were read. */
export type Remembered = Watched & { about: AboutRun; isStale: boolean }

const maxRuns = 10_000

/** A follower's knowledge of reporting runs, read at their first report; null for a run that does not exist. */
export function runMemory() {
  const runs = new Map<string, Remembered | null>()

  async function meet(run_id: string, deps: Pick<Deps, 'pool' | 'store'>) {
    const found = await aboutRun(deps, run_id)
    const run = found && {
      ...{ about: found.about, rules: found.rules, isStale: false },
      alerts: await alertsNow(deps, run_id),
      ...{ seen: new Map(), keys: null, watches: [] },
    }
    const [oldest] = runs.keys()
    if (runs.size >= maxRuns && oldest !== undefined) runs.delete(oldest)
    runs.set(run_id, run)
    return run
  }

  return {
    clear: () => runs.clear(),
    async recall(run_id: string, deps: Pick<Deps, 'pool' | 'store'>): Promise<Remembered | null> {
      const known = runs.get(run_id)
      if (known === undefined) return meet(run_id, deps)
      if (known?.isStale) {
        known.alerts = await alertsNow(deps, run_id)
        known.isStale = false
      }
      return known
    },
  }
}
