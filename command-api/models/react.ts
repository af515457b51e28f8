import type { DecisionEvent } from '../../events/all.ts'
import type { Recorded } from '../../events/event.ts'
import type { Duty } from '../effects/reactor.ts'

export type Ended = { run_id: string; short_id: string; owner: string }

/** A successful job may have left an artifact that its spec wants registered. */
export const endsOf = ({ type, data }: Recorded<DecisionEvent>): Duty<Ended>[] =>
  type === 'job.succeeded'
    ? [{ payload: { run_id: data.run_id, short_id: data.short_id, owner: data.owner } }]
    : []
