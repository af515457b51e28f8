import { Type } from 'typebox'
import { runStates } from '../jobs/states.ts'
import { nullable, oneOf, timestamp } from '../shared.ts'

/** What identifies a run next to others. */
export const runIdentity = {
  run_id: Type.String(),
  short_id: Type.String(),
  name: nullable(Type.String()),
  project: Type.String(),
  owner: Type.String(),
  state: oneOf(...runStates),
  created_at: timestamp(),
}
