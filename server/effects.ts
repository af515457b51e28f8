import type { Deps } from '../command-api/deps.ts'
import { startDuties } from '../command-api/duties/runner.ts'
import { reactors } from '../command-api/reactors.ts'
import type { Core } from './core.ts'

/** Starts what Forge does because of events (docs/effects.md). */
export function startEffects(core: Core, deps: Deps): void {
  const { life, logger, pool, measures } = core
  const duties = startDuties({
    pool,
    store: deps.store,
    work: deps,
    now: deps.now,
    random: Math.random,
    logger,
    reactors,
    measure: (reactor, result) => measures.duties.inc({ reactor, result }),
  })
  life.owns('duties', duties, started => started.stop())
  core.dutiesAdded.tell = duties.wake
}
