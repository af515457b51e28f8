import { Type } from 'typebox'
import { aggregate, type EventOf, event, type Stamped } from './event.ts'

/** An admin requested a rebuild of the read models; `projection` is the requested name, or `all`. */
export const projectionRebuildRequested = event(
  'projection.rebuild_requested',
  Type.Object({ projection: Type.String() }),
  ({ projection }, who) => `${who} had the read models rebuilt (${projection})`,
)

export type ProjectionEvent = EventOf<typeof projectionRebuildRequested>

/** The last request; null if there was none. */
export type Rebuild = { projection: string; requested_at: string; requested_by: string } | null

function evolve(_: Rebuild, event: Stamped<ProjectionEvent>): Rebuild {
  switch (event.type) {
    case 'projection.rebuild_requested':
      return {
        projection: event.data.projection,
        requested_at: event.occurred_at,
        requested_by: event.actor.id,
      }
  }
}

export const projections = aggregate('projection', {
  events: [projectionRebuildRequested],
  initial: null,
  evolve,
})
export const projectionAt = (name: string) => projections.at(name)
