import { Type } from 'typebox'
import { nullable, oneOf } from '../shared.ts'
import { runIdentity } from './identity.ts'

/** Maximum runs of a lineage, and steps from the requested run; `truncated` if there are more. */
export const lineageLimits = { runs: 200, steps: 20 } as const

export const lineageKinds = ['retry', 'clone', 'init_from'] as const

/** `GET /api/runs/{run_id}/lineage`: a run's sources and results, over any number of steps. */
export const lineage = Type.Object({
  run_id: Type.String(),
  /** The run itself and those connected to it that the caller may read, oldest first. */
  runs: Type.Array(Type.Object({ ...runIdentity, datasets: Type.Array(Type.String()) })),
  edges: Type.Array(
    Type.Object({
      kind: oneOf(...lineageKinds),
      /** The earlier run; null if the caller may not read it. */
      from: nullable(Type.String()),
      to: Type.String(),
      /** For `init_from`: the artifact from which the later run began. */
      artifact_id: nullable(Type.String()),
      /** Whether that was deleted since. */
      artifact_deleted: Type.Boolean(),
    }),
  ),
  /** The attempts of this run that continued from a checkpoint. */
  resumed: Type.Array(
    Type.Object({
      attempt: Type.Integer(),
      artifact_id: Type.String(),
      artifact_deleted: Type.Boolean(),
    }),
  ),
  truncated: Type.Boolean(),
})
