import type { Event, Stream } from '../../events/event.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { type CommitDeps, commit, type Decision } from '../commit/commit.ts'

type Deprecation<S, E extends Event> = {
  target: Stream<S, E>
  /** How jobs name the version. */
  ref: string
  decide: (state: S) => E[]
  save: NonNullable<Decision<S, E>['alongside']>
}

/** Marks a version as one that should not be used any more, and returns the response. */
export async function deprecate<S, E extends Event>(
  deps: CommitDeps,
  request: HttpAsked & { body: { reason: string } },
  { target, ref, decide, save }: Deprecation<S, E>,
) {
  const { events } = await commit(deps, request, target, { decide, alongside: save })
  return {
    ...{ ref, state: 'deprecated' as const, reason: request.body.reason },
    changed: events.length > 0,
  }
}
