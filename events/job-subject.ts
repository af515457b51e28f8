import { Type } from 'typebox'

/** The job of an event; in every event, so that each can be shown without reading others. */
export const subject = {
  run_id: Type.String(),
  short_id: Type.String(),
  project: Type.String(),
  owner: Type.String(),
}
