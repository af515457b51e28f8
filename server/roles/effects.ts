import { Gauge } from 'prom-client'
import { newFollowers, planParts, planReactors, reactors } from '../../command-api/compose.ts'
import type { Deps } from '../../command-api/deps.ts'
import { countDuties } from '../../command-api/duties/list.ts'
import { type Duties, type DutiesDeps, startDuties } from '../../command-api/duties/runner.ts'
import { startSchedules } from '../../command-api/duties/schedules.ts'
import { startFollower } from '../../command-api/followers/run.ts'
import type { Check } from '../../platform/readiness.ts'
import type { Core } from '../core.ts'
import { curveReader } from './curve-reader.ts'
import { templatesIn } from './replicas.ts'

/** Starts the effects of events: duties, schedules and followers (docs/contribute/effects.md). */
export function startEffects(core: Core, deps: Deps): void {
  const { life, logger, pool, log, topics } = core
  const duties = performDuties(core, deps, { reactors, work: deps })
  life.owns('duties', duties, started => started.stop())
  const plans = performDuties(core, deps, {
    reactors: planReactors,
    work: { ...deps, planParts: partsOf(core, deps), readCurves: curveReader(core.readPool) },
  })
  life.owns('plans', plans, started => started.stop())
  const dutiesAdded = () => {
    duties.wake()
    plans.wake()
  }
  core.dutiesAdded.tell = dutiesAdded
  const scheduled = { reactors: [...reactors, ...planReactors], now: deps.now }
  const schedules = startSchedules({ ...scheduled, pool, logger, dutiesAdded })
  life.owns('schedules', schedules, started => started.stop())
  const following = { pool, store: deps.store, log, topics, work: deps, now: deps.now, logger }
  for (const follower of newFollowers()) {
    const started = startFollower(follower, following)
    life.owns(`follower ${follower.name}`, started, one => one.stop())
    core.followers.push(started)
  }
  gaugeOpenDuties(core)
}

const partsOf = ({ catalogue }: Core, deps: Deps) =>
  planParts(deps, { catalogue, findTemplate: templatesIn(catalogue) })

/** Performs the duties of these reactors in this process, which must have their dependencies. */
export const performDuties = <D>(
  { pool, logger, measures }: Core,
  { store, now }: Deps,
  own: Pick<DutiesDeps<D>, 'reactors' | 'work' | 'pollMs'>,
): Duties =>
  startDuties({
    ...own,
    pool,
    store,
    now,
    random: Math.random,
    logger,
    measure: (reactor, result) => measures.duties.inc({ reactor, result }),
  })

/** Counted at each scrape; every process reports the same numbers, so take the maximum, not the sum. */
function gaugeOpenDuties({ pool, telemetry, now }: Core): void {
  new Gauge({
    name: 'forge_duties_open',
    help: 'Duties that are due or parked.',
    labelNames: ['reactor', 'state'],
    registers: [telemetry.registry],
    async collect() {
      const counts = await countDuties(pool, now()).catch(() => null)
      this.reset()
      for (const { reactor, due, parked } of counts ?? []) {
        this.set({ reactor, state: 'due' }, due)
        this.set({ reactor, state: 'parked' }, parked)
      }
    },
  })
}

/** Always `ok`: parked duties and halted followers need a person; replacing this process would not help. */
export async function effectsCheck({ pool, followers, now: clock }: Core): Promise<Check> {
  const now = clock()
  const counts = await countDuties(pool, now)
  const sum = (which: 'due' | 'parked') => counts.reduce((all, count) => all + count[which], 0)
  return {
    ok: true,
    lag_ms: Math.max(0, ...counts.map(({ due_since }) => +now - +(due_since ?? now))),
    due: sum('due'),
    parked: sum('parked'),
    followers: followers.map(({ status }) => status()),
  }
}
