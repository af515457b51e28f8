import { type Static, Type } from 'typebox'
import { closed, nameText, nullable, oneOf } from '../shared.ts'
import { reference, semver } from './reference.ts'

/** Bounds of an environment's archive, in bytes: compressed, and unpacked. */
export const environmentBounds = {
  archiveBytes: 250 * 1024 * 1024,
  expandedBytes: 1024 * 1024 * 1024,
}

/** The file of an archive that describes its environment. */
export const manifestName = 'environment.yaml'

const scalar = () => Type.Union([Type.String({ maxLength: 1000 }), Type.Number(), Type.Boolean()])

/** One argument of `rollout`. No patterns: people write these schemas, and some patterns never end. */
const argument = closed({
  type: oneOf('string', 'number', 'integer', 'boolean'),
  description: Type.Optional(Type.String({ maxLength: 500 })),
  enum: Type.Optional(Type.Array(scalar(), { minItems: 1, maxItems: 100 })),
  minimum: Type.Optional(Type.Number()),
  maximum: Type.Optional(Type.Number()),
  maxLength: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000 })),
})

const argumentName = '^[A-Za-z_][A-Za-z0-9_]{0,62}$'

/** The part of JSON Schema in which the arguments of an environment are described. */
export const argsSchema = closed({
  type: Type.Optional(Type.Literal('object')),
  properties: Type.Record(Type.String({ pattern: '^[\\s\\S]*$' }), argument, {
    maxProperties: 100,
    propertyNames: { type: 'string', pattern: argumentName },
    default: {},
  }),
  required: Type.Array(Type.String({ pattern: argumentName }), { maxItems: 100, default: [] }),
})
export type ArgsSchema = Static<typeof argsSchema>

export const environmentArgs = Type.Record(Type.String(), Type.Unknown())
export type EnvironmentArgs = Static<typeof environmentArgs>

const bound = () => nullable(Type.Number())

/** The contents of `environment.yaml`. Fields with a default are optional. */
export const environmentManifest = closed({
  name: reference.name(),
  version: semver(),
  title: nameText(200, { default: '', minLength: 0 }),
  /** The module, relative to the folder, and the function in it: `package.module:rollout`. */
  entry: Type.String({
    maxLength: 200,
    pattern: '^[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*$',
  }),
  args_schema: Type.Object(argsSchema.properties, { additionalProperties: false, default: {} }),
  args_default: Type.Record(Type.String(), Type.Unknown(), { default: {}, maxProperties: 100 }),
  /** The range of rewards, for charts and trainers. */
  reward: Type.Object(
    {
      min: Type.Unsafe<number | null>({ type: ['number', 'null'], default: null }),
      max: Type.Unsafe<number | null>({ type: ['number', 'null'], default: null }),
    },
    { additionalProperties: false, default: {} },
  ),
  /** Names of the tools that its rollouts offer to the model. */
  tools: Type.Array(nameText(64), { maxItems: 100, default: [] }),
  /** Secrets that a job has to give to its runs for this environment. */
  secrets_required: Type.Array(Type.String({ pattern: '^[A-Z][A-Z0-9_]{0,62}$' }), {
    maxItems: 20,
    default: [],
  }),
})
export type EnvironmentManifest = Static<typeof environmentManifest>

/** The recorded part of a manifest. */
export const manifestFacts = {
  title: Type.String(),
  entry: Type.String(),
  args_schema: argsSchema,
  args_default: environmentArgs,
  reward: Type.Object({ min: bound(), max: bound() }),
  tools: Type.Array(Type.String()),
  secrets_required: Type.Array(Type.String()),
  /** Lines of its `requirements.txt`. */
  requirements: Type.Array(Type.String()),
}
