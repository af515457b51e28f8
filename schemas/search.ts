import { Type } from 'typebox'
import { type FoundType, foundTypes } from './found.ts'
import { searchLimits } from './runs/search.ts'
import { maxOffset, nullable, oneOf, timestamp } from './shared.ts'

/** `limit` counts for each type; `offset` needs a single type. */
export const searchQuery = Type.Object({
  q: Type.Optional(Type.String({ maxLength: searchLimits.length })),
  /** Comma-separated; all by default. */
  type: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 5 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: maxOffset, default: 0 })),
})

const found = Type.Object({
  type: oneOf(...foundTypes),
  ref: Type.String(),
  name: Type.String(),
  owner: Type.String(),
  project: nullable(Type.String()),
  state: nullable(Type.String()),
  created_at: timestamp(),
  path: Type.String(),
})

export const searchReply = Type.Object({
  counts: Type.Partial(
    Type.Object(
      Object.fromEntries(
        foundTypes.map(type => [type, Type.Integer({ minimum: 0, maximum: 10_001 })]),
      ) as Record<FoundType, ReturnType<typeof Type.Integer>>,
    ),
  ),
  results: Type.Array(found),
})
