import { type Static, Type } from 'typebox'
import { type EventOf, event } from './event.ts'

const scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])
export type Scalar = Static<typeof scalar>

/** Hyperparameters of a run, with or without a job, were added or got another value. */
export const hparamsSet = event(
  'hparams.set',
  Type.Object({
    run_id: Type.String(),
    added: Type.Record(Type.String(), scalar),
    changed: Type.Array(Type.Object({ key: Type.String(), from: scalar, to: scalar })),
  }),
)

export const hparamsEvents = [hparamsSet] as const
export type HparamsEvent = EventOf<(typeof hparamsEvents)[number]>

/** A stream of its own: the life of a run is told in that of its job, or of the run where it has none. */
export const hparamsStream = (runId: string) => `hparams-${runId}`
