import { type Static, type TSchema, type TSchemaOptions, type TUnsafe, Type } from 'typebox'

/** ISO 8601 with an explicit offset, e.g. `2026-11-20T19:26:53+00:00` (specification, "Identifiers and common formats"). */
export const timestamp = () => Type.String({ format: 'date-time' })

export const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])

/**
 * Characters that no name may contain: controls (C0, C1) steer terminals, line separators break lines, and marks of direction
 * (overrides, isolates) show a name in another order than it has. For a class of a pattern.
 */
const unprintable =
  '\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069'
export const printable = `[^${unprintable}]`
export const namePattern = `^${printable}*$`

/** A name that people or running code give to something. */
export const nameText = (maxLength: number, options: TSchemaOptions = {}) =>
  Type.String({ minLength: 1, maxLength, pattern: namePattern, ...options })

/** One of a fixed list of words. */
export const oneOf = <const V extends readonly string[]>(...values: V): TUnsafe<V[number]> =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values] })

/** An object that refuses keys it does not name. */
export const closed = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })

/**
 * An object with free keys of 1 to 250 characters. (The limits of a key's own schema are lost in `Type.Record`, and its
 * default pattern, in which a dot does not match a newline, leaves the values of some keys unchecked.)
 */
export const byName = <V extends TSchema>(values: V, options: TSchemaOptions = {}) =>
  Type.Record(Type.String({ pattern: '^[\\s\\S]*$' }), values, {
    propertyNames: { type: 'string', minLength: 1, maxLength: 250 },
    ...options,
  })

/** As `byName`, with keys that name something. */
export const byPrintableName = <V extends TSchema>(values: V, options: TSchemaOptions = {}) =>
  byName(values, {
    propertyNames: { type: 'string', minLength: 1, maxLength: 250, pattern: namePattern },
    ...options,
  })

/** A run id, or the short id `<project>-<n>` accepted wherever a run id is. */
export const runIdInPath = Type.Object({ run_id: Type.String({ minLength: 1, maxLength: 128 }) })

export const maxOffset = 100_000

/** `limit` 50 by default, 1 to 500; `offset` 0 to 100,000. */
export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 50 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: maxOffset, default: 0 })),
}

/** One entry of a 422 body (specification, "Validation error item"). */
export const validationError = Type.Object(
  {
    loc: Type.Array(Type.Union([Type.String(), Type.Integer()])),
    msg: Type.String(),
    type: Type.String(),
    input: Type.Optional(Type.Unknown()),
    ctx: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { title: 'ValidationError' },
)
export type ValidationError = Static<typeof validationError>
