import { type Static, Type } from 'typebox'
import { closed, namePattern, oneOf, pageQuery, timestamp } from '../shared.ts'

const rubricName = () =>
  Type.String({ minLength: 1, maxLength: 128, pattern: '^[a-zA-Z0-9][a-zA-Z0-9_.-]*$' })

const criterion = closed({
  name: Type.String({ minLength: 1, pattern: namePattern }),
  weight: Type.Number({ default: 1 }),
  description: Type.String({ default: '' }),
})

const rubricFields = {
  name: rubricName(),
  criteria: Type.Array(criterion, { minItems: 1, maxItems: 20 }),
  description: Type.String({ default: '', maxLength: 4000 }),
  scale_min: Type.Number({ default: 0 }),
  scale_max: Type.Number({ default: 1 }),
  visibility: oneOf('private', 'public'),
}

/** The body of `PUT /api/rubrics/{owner}/{name}` (specification, "Rubric"). */
export const rubricInput = closed({
  ...rubricFields,
  visibility: Type.Unsafe<'private' | 'public'>({
    type: 'string',
    pattern: '^(private|public)$',
    default: 'private',
  }),
})
export type RubricInput = Static<typeof rubricInput>

export const rubricPath = Type.Object({
  owner: Type.String({ minLength: 1, maxLength: 128 }),
  name: Type.String({ minLength: 1, maxLength: 128 }),
})

export const rubricListQuery = closed({ ...pageQuery, owner: Type.Optional(Type.String()) })

/** A rubric as stored. */
export const rubric = Type.Object({
  owner: Type.String(),
  ...rubricFields,
  version: Type.Integer({ minimum: 1 }),
  digest: Type.String(),
  created_at: timestamp(),
  updated_at: timestamp(),
  updated_by: Type.String(),
})

/** `created`: this is the first version; `changed`: false if the body equals the stored one. */
export const rubricUpsertReply = Type.Object({
  ...rubric.properties,
  created: Type.Boolean(),
  changed: Type.Boolean(),
  /** Number of cached scores of older versions that this version invalidates. */
  retired_scores: Type.Integer({ minimum: 0 }),
})
