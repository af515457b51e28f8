import { type Static, Type } from 'typebox'
import { closed, nullable, oneOf } from './shared.ts'

export const recipeName = () =>
  Type.String({ pattern: '^[a-z0-9][a-z0-9_.-]{0,62}$', description: 'e.g. grpo' })

/** Numbers compare as numbers: 1.10.0 is newer than 1.9.0. */
export const recipeVersion = () =>
  Type.String({ pattern: '^[0-9]+\\.[0-9]+\\.[0-9]+([-+][0-9A-Za-z.-]{1,40})?$' })

export const recipeDigest = () => Type.String({ pattern: '^sha256:[0-9a-f]{64}$' })

const framework = closed({
  name: Type.String({ minLength: 1, maxLength: 64 }),
  version: Type.String({ minLength: 1, maxLength: 64 }),
  /** Identifies the software of a run; recipes with the same id share one Python environment. */
  runtime_id: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$' }),
})

/** The contents of `recipe.yaml`. Fields with a default are optional. */
export const recipeFile = closed({
  name: recipeName(),
  version: recipeVersion(),
  title: Type.String({ minLength: 1, maxLength: 200 }),
  kind: Type.String({ pattern: '^[a-z][a-z0-9_-]{0,31}$', default: 'train' }),
  framework,
  /** Path of a Python program, relative to the recipe's directory. */
  entrypoint: Type.String({
    pattern: '^([A-Za-z0-9_][A-Za-z0-9_.-]*/)*[A-Za-z0-9_][A-Za-z0-9_.-]*\\.py$',
    maxLength: 200,
  }),
  /** JSON Schema (2020-12) of the parameters a job may set. */
  params_schema: Type.Record(Type.String(), Type.Unknown()),
  params_default: Type.Record(Type.String(), Type.Unknown(), { default: {} }),
  image: Type.Unsafe<string | null>({ type: ['string', 'null'], default: null }),
  resources: Type.Object(
    {
      /** Of all nodes together. */
      min_gpus: Type.Integer({ minimum: 0, maximum: 100_000, default: 1 }),
      min_nodes: Type.Integer({ minimum: 1, maximum: 100_000, default: 1 }),
      /** Profiles it is meant for; empty means all. */
      profiles: Type.Array(Type.String(), { default: [] }),
    },
    { additionalProperties: false, default: {} },
  ),
  outputs: Type.Array(
    closed({
      kind: oneOf('checkpoint', 'hf_export', 'eval_report', 'merged_model'),
      format: Type.String({ minLength: 1 }),
    }),
    { default: [] },
  ),
  deprecated: Type.Boolean({ default: false }),
})

/** A recipe of the catalogue (`GET /api/recipes`). */
export const recipe = Type.Object({
  ...recipeFile.properties,
  digest: recipeDigest(),
  image: nullable(Type.String()),
})
export type Recipe = Static<typeof recipe>

/** The exact recipe a job was written for, to be pasted under `lock`. */
export const recipeLock = Type.Object({
  name: recipeName(),
  version: recipeVersion(),
  digest: recipeDigest(),
  framework,
})
export type RecipeLock = Static<typeof recipeLock>

/** The body of `POST /api/admin/recipes`: an upload with the purpose `recipe`, registered. */
export const recipeUpload = closed({ upload_id: Type.String({ minLength: 1, maxLength: 128 }) })

/** `created`: false where the catalogue had the same files under this name and version. */
export const addedRecipe = Type.Object({ ...recipe.properties, created: Type.Boolean() })

export const recipeDeprecation = closed({
  deprecated: Type.Optional(Type.Boolean({ default: true })),
})

export const recipeVersionPath = Type.Object({
  name: Type.String({ maxLength: 64 }),
  version: Type.String({ maxLength: 64 }),
})
