import { Type } from 'typebox'
import { closed, oneOf, pageQuery, timestamp } from './shared.ts'

/** A row of `GET /api/projects`. */
export const project = Type.Object({
  name: Type.String(),
  owner: Type.String(),
  /** `private`: read by its people and admins; `internal`: by every signed-in person. */
  visibility: oneOf('private', 'internal'),
  runs: Type.Integer({ minimum: 0 }),
  created_at: timestamp(),
})

export const projectListQuery = closed(pageQuery)
