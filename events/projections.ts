import { Type } from 'typebox'
import { type EventOf, event } from './event.ts'

/** An admin asked for the read models to be built anew; `projection` is the name it was asked by, or `all`. */
export const projectionRebuildRequested = event(
  'projection.rebuild_requested',
  Type.Object({ projection: Type.String() }),
)

export const projectionEvents = [projectionRebuildRequested] as const
export type ProjectionEvent = EventOf<(typeof projectionEvents)[number]>
export const projectionStream = (name: string) => `projection-${name}`
