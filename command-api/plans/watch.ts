import { planAt } from '../../events/plans.ts'
import { loadState } from '../commit/snapshots.ts'
import type { Deps } from '../deps.ts'
import { type Change, decided, nothing, type Outcome } from '../effects/outcome.ts'
import { reactor } from '../effects/reactor.ts'
import type { AdvanceDeps } from './advance.ts'
import { currentStage, expirePlan } from './decide.ts'
import { runsToStop } from './early-stop.ts'
import { plansUnderWay, savePlan } from './rows.ts'

/** Plans that one look goes through. */
const mostWatched = 1000

/** Stops runs of sweeps that are worse than the median. */
export const sweepWatcher = reactor<object, AdvanceDeps>({
  name: 'watch-sweeps',
  repeat: 'ask first',
  every: { seconds: 10, payload: () => ({}) },
  deadlineMs: 60_000,
  atOnce: 1,
  async perform(_, deps, signal): Promise<Outcome> {
    for (const plan_id of await plansUnderWay(deps.pool, mostWatched)) {
      signal.throwIfAborted()
      await watch(deps, plan_id)
    }
    return nothing
  },
})

async function watch({ store, planParts, readCurves }: AdvanceDeps, plan_id: string) {
  const { state: plan } = await loadState(store, undefined, planAt(plan_id))
  const stage = plan?.state === 'submitted' ? plan.stages[currentStage(plan)] : undefined
  const { early_stop, metric } = stage?.sweep ?? {}
  if (!stage || !early_stop || !metric) return
  const { key, goal } = metric
  const ids = stage.runs.map(({ run_id }) => run_id)
  const states = await planParts.statesOf(ids)
  const running = ids.filter(id => states.get(id) === 'running')
  if (running.length === 0) return
  const started = ids.filter(id => states.has(id))
  const curves = await readCurves(started, key)
  for (const { run_id, step, best, median } of runsToStop(curves, running, { ...early_stop, goal }))
    await planParts.stop(
      run_id,
      `early stop: ${key} reached ${best} by step ${step}, the median of the others ${median}`,
    )
}

/** Ends plans that were not submitted in time. */
export const planExpiry = reactor<{ plan_id: string }, Pick<Deps, 'store'>>({
  name: 'expire-plans',
  repeat: 'local',
  dutiesOf: ({ type, data }) =>
    type === 'plan.created'
      ? [{ payload: { plan_id: data.plan_id }, due_at: new Date(data.expires_at) }]
      : [],
  perform: async ({ payload: { plan_id } }): Promise<Change[]> => [
    decided(planAt(plan_id), { decide: expirePlan, alongside: savePlan }),
  ],
})
