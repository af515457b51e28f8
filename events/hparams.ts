import { type Static, Type } from 'typebox'
import { aggregate, type EventOf, event } from './event.ts'
import { count } from './words.ts'

const scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])
export type Scalar = Static<typeof scalar>

/** Hyperparameters of a run were added or changed. */
export const hparamsSet = event(
  'hparams.set',
  Type.Object({
    run_id: Type.String(),
    added: Type.Record(Type.String(), scalar),
    changed: Type.Array(Type.Object({ key: Type.String(), from: scalar, to: scalar })),
  }),
  ({ run_id, added, changed }, who) =>
    `${who} added ${count(Object.keys(added).length, 'hyperparameter')} of run ${run_id} and changed ${changed.length}`,
)

export type HparamsEvent = EventOf<typeof hparamsSet>

/** By key; look one up with `Object.hasOwn`, because a key may be called `constructor`. */
export type Hparams = Readonly<Record<string, Scalar>>

function evolve(before: Hparams, event: HparamsEvent): Hparams {
  const { added, changed } = event.data
  return {
    ...before,
    ...added,
    ...Object.fromEntries(changed.map(({ key, to }) => [key, to])),
  }
}

export const hparams = aggregate('hparams', {
  events: [hparamsSet],
  initial: {},
  evolve,
  snapshot: { shape: 1 },
})

/** Separate from the lifecycle, which is in the stream of the job or of the external run. */
export const hparamsAt = (runId: string) => hparams.at(runId)
