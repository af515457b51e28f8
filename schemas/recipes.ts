import { type Static, Type } from 'typebox'
import { closed, nameText, nullable, oneOf } from './shared.ts'

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
  title: nameText(200),
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
      /** Total of all nodes. */
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

const word = () => Type.String({ minLength: 1, maxLength: 1000 })

/** How a serving template starts an engine and checks that it responds (docs/operate/serving.md). */
export const templateServing = closed({
  /** `python` is the Python of its environment, and a file of the template has its path; `{…}` is filled in. */
  command: Type.Array(word(), { minItems: 1, maxItems: 200 }),
  /** Groups of further arguments; a group is omitted if one of its parameters is null. */
  options: Type.Array(Type.Array(word(), { minItems: 1, maxItems: 20 }), {
    maxItems: 100,
    default: [],
  }),
  readiness: closed({
    path: Type.String({ pattern: '^/[!-~]{0,500}$' }),
    timeout_s: Type.Number({ exclusiveMinimum: 0, maximum: 86_400, default: 600 }),
    interval_s: Type.Number({ minimum: 0.05, maximum: 60, default: 0.5 }),
  }),
  /** Names of the model for clients, unless a deployment gives others. */
  served_names: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
    minItems: 1,
    maxItems: 20,
    default: ['default'],
  }),
  engine: Type.String({ minLength: 1, maxLength: 64 }),
  engine_version: Type.String({ minLength: 1, maxLength: 64 }),
})

export const serveKind = 'serve'

/** Whether it is a serving template, which people's jobs cannot use. */
export const isTemplate = ({ kind }: { kind: string }): boolean => kind === serveKind

/** Templates share the catalogue with recipes, and a template may have the name of the recipe whose results it serves. */
export const templatePrefix = 'serving.'

/** A template's name as shown to people. */
export const templateName = ({ name }: { name: string }): string =>
  name.slice(templatePrefix.length)

const { entrypoint: _, ...sharedFields } = recipeFile.properties

/** The contents of `template.yaml`: a recipe whose program is Forge's own engine supervisor. */
export const templateFile = closed({
  ...sharedFields,
  kind: Type.Literal(serveKind),
  serving: templateServing,
})

/** A recipe of the catalogue (`GET /api/recipes`); only serving templates have `serving`. */
export const recipe = Type.Object({
  ...recipeFile.properties,
  digest: recipeDigest(),
  image: nullable(Type.String()),
  serving: Type.Optional(templateServing),
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

/** `created`: false if the catalogue already had the same files under this name and version. */
export const addedRecipe = Type.Object({ ...recipe.properties, created: Type.Boolean() })

export const recipeDeprecation = closed({
  deprecated: Type.Optional(Type.Boolean({ default: true })),
})

export const recipeVersionPath = Type.Object({
  name: Type.String({ maxLength: 64 }),
  version: Type.String({ maxLength: 64 }),
})
