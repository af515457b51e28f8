import { type Static, Type } from 'typebox'
import { overrideGates, revisionStates } from './deployments/deployments.ts'
import { projectName } from './jobs/jobspec.ts'
import { closed, nameText, nullable, oneOf, pageQuery, timestamp } from './shared.ts'

export const versionStates = ['pending', 'ready', 'failed', 'archived'] as const

/** Reserved aliases: they would look like a version, or like the newest one. */
export const isReservedAlias = (alias: string): boolean =>
  alias === 'latest' || /^v\d+$/.test(alias)

/** Names are global. */
export const modelName = () => Type.String({ pattern: '^[a-z0-9][a-z0-9._-]{0,127}$' })
const alias = () => Type.String({ pattern: '^[a-z][a-z0-9_.-]{0,62}$' })
const versionNumber = () => Type.Integer({ minimum: 1, maximum: 1_000_000 })
const reason = () => Type.String({ maxLength: 1000 })
const notes = () => Type.String({ maxLength: 4000 })
const license = () => nullable(nameText(200))
const protectedAliases = () => Type.Array(alias(), { maxItems: 50, uniqueItems: true })

/** The body of `POST /api/models`. */
export const modelInput = closed({
  name: modelName(),
  project: projectName(),
  description: Type.Optional(notes()),
  protected_aliases: Type.Optional(protectedAliases()),
})
export const defaultProtectedAliases: readonly string[] = ['production']

/** The body of `PATCH /api/models/{model}`; absent fields keep their value. */
export const modelPatch = closed({
  description: Type.Optional(notes()),
  protected_aliases: Type.Optional(protectedAliases()),
})
export type ModelPatch = Static<typeof modelPatch>

/** The body of `POST /api/models/{model}/versions`. */
export const versionInput = closed({
  artifact_id: Type.String({ minLength: 1, maxLength: 128 }),
  stage_notes: Type.Optional(notes()),
  license: Type.Optional(license()),
})

export const versionPatch = closed({
  archived: Type.Optional(Type.Boolean()),
  stage_notes: Type.Optional(notes()),
})
export type VersionPatch = Static<typeof versionPatch>

/** `expected_version`: the version that the alias currently names, null for none; a mismatch is refused. */
export const aliasInput = closed({
  version: versionNumber(),
  reason: Type.Optional(reason()),
  expected_version: Type.Optional(nullable(versionNumber())),
  override_gates: overrideGates(),
})
export const aliasRemovalQuery = closed({
  reason: Type.Optional(reason()),
  expected_version: Type.Optional(versionNumber()),
})

export const modelPath = Type.Object({ model: modelName() })
export const versionPath = Type.Object({ model: modelName(), version: versionNumber() })
export const aliasPath = Type.Object({ model: modelName(), alias: alias() })

const aliasOfModel = Type.Object({
  alias: Type.String(),
  version: Type.Integer(),
  is_protected: Type.Boolean(),
  moved_at: timestamp(),
  moved_by: Type.String(),
})

const modelFields = {
  model: Type.String(),
  project: Type.String(),
  owner: Type.String(),
  description: Type.String(),
  protected_aliases: Type.Array(Type.String()),
}
export const model = Type.Object({
  ...modelFields,
  /** Number of the newest version; null before the first. */
  newest_version: nullable(Type.Integer()),
  aliases: Type.Array(aliasOfModel),
  created_at: timestamp(),
  updated_at: timestamp(),
})
export type Model = Static<typeof model>

/**
 * `ready`: its artifact is verified; `pending`: not yet verified; `failed`: not in the store; `archived`: archived by
 * a person.
 */
const versionFields = {
  model: Type.String(),
  version: Type.Integer(),
  state: oneOf(...versionStates),
  source: Type.Object({ artifact_id: Type.String(), run_id: Type.String() }),
  aliases: Type.Array(Type.String()),
  stage_notes: Type.String(),
  metrics: Type.Record(Type.String(), Type.Unknown()),
  size_bytes: nullable(Type.Integer()),
  format: nullable(Type.String()),
  license: nullable(Type.String()),
  created_by: Type.String(),
  created_at: timestamp(),
}
export const modelVersion = Type.Object(versionFields)
export type ModelVersion = Static<typeof modelVersion>

/** A version's source, the source's scores, and where it is served, as far as the caller may read it. */
export const modelVersionLineage = Type.Object({
  ...versionFields,
  run: nullable(
    Type.Object({ run_id: Type.String(), name: nullable(Type.String()), owner: Type.String() }),
  ),
  artifact: nullable(
    Type.Object({ kind: Type.String(), path: Type.String(), sha256: nullable(Type.String()) }),
  ),
  benchmarks: Type.Array(
    Type.Object({
      benchmark: Type.String(),
      recorded_at: timestamp(),
      result: Type.Record(Type.String(), Type.Unknown()),
    }),
  ),
  deployments: Type.Array(
    Type.Object({
      deployment_id: Type.String(),
      name: Type.String(),
      revision_id: Type.String(),
      is_promoted: Type.Boolean(),
      state: oneOf(...revisionStates),
      /** Since its creation. */
      requests: Type.Integer(),
      errors: Type.Integer(),
      prompt_tokens: Type.Integer(),
      completion_tokens: Type.Integer(),
    }),
  ),
})

/** `from` and `to` are versions; null: none. */
export const aliasMove = Type.Object({
  at: timestamp(),
  actor: Type.String(),
  from: nullable(Type.Integer()),
  to: nullable(Type.Integer()),
  reason: Type.String(),
  /** Benchmarks that refused the version, each with its reason. */
  overridden: Type.Array(Type.String()),
})

export const modelChanged = Type.Object({ ...modelFields, changed: Type.Boolean() })
export const modelDeleted = Type.Object({ model: Type.String(), deleted: Type.Literal(true) })
export const versionChanged = Type.Object({
  model: Type.String(),
  version: Type.Integer(),
  artifact_id: Type.String(),
  run_id: Type.String(),
  archived: Type.Boolean(),
  stage_notes: Type.String(),
  changed: Type.Boolean(),
})
export const aliasMoved = Type.Object({
  model: Type.String(),
  alias: Type.String(),
  version: nullable(Type.Integer()),
  previous_version: nullable(Type.Integer()),
  changed: Type.Boolean(),
})

export const modelListQuery = closed({ ...pageQuery, project: Type.Optional(projectName()) })
export const pageOfModel = closed(pageQuery)
/** `at`: only the move in force at that time. */
export const aliasHistoryQuery = closed({ ...pageQuery, at: Type.Optional(timestamp()) })
