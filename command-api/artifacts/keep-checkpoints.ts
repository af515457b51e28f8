import type { DecisionEvent } from '../../events/all.ts'
import type { Recorded } from '../../events/event.ts'
import { isInStore } from '../../schemas/artifacts/in-store.ts'
import type { Deps } from '../deps.ts'
import { again } from '../effects/further-duties.ts'
import { nothing, type Outcome } from '../effects/outcome.ts'
import { reactor } from '../effects/reactor.ts'
import { deletionsBy, expiredOf, rulesOf } from './retention.ts'

/** Maximum deletions per duty; the rest is left to the next duty. */
const atATime = 100

/** Applies `checkpoints.keep` of a job after each new checkpoint and at its end. */
export const checkpointKeeper = reactor<{ run_id: string }, Pick<Deps, 'pool' | 'store'>>({
  name: 'keep-checkpoints',
  // Deleted checkpoints are not found again.
  repeat: 'local',
  dutiesOf(event) {
    const run_id = runToLookAt(event)
    return run_id === null ? [] : [{ payload: { run_id } }]
  },
  async perform({ duty_id, payload: { run_id } }, { pool, store }): Promise<Outcome> {
    const { keep, metric } = await rulesOf({ store }, run_id)
    if (keep === null) return nothing
    const rules = { run_id, keep, metric, before: null }
    const { unneeded } = await expiredOf(pool, rules)
    const now = unneeded.slice(0, atATime)
    if (now.length === 0) return nothing
    const rest = unneeded.length > now.length ? [again(duty_id, 0)] : []
    return [...deletionsBy(rules, now, 'keep_rules'), ...rest]
  },
})

function runToLookAt({ type, data }: Recorded<DecisionEvent>): string | null {
  switch (type) {
    case 'artifact.registered':
      // Artifacts in the store are verified next.
      return data.kind === 'checkpoint' && !isInStore(data.path) ? data.run_id : null
    case 'artifact.verified':
    case 'job.succeeded':
    case 'job.failed':
    case 'job.stopped':
      return data.run_id
    default:
      return null
  }
}
