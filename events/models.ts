import { type Static, Type } from 'typebox'
import { nullable } from '../schemas/shared.ts'
import { aggregate, type EventOf, event } from './event.ts'

const settings = {
  description: Type.String(),
  /** Only the owner, maintainers of the project and admins move these. */
  protected_aliases: Type.Array(Type.String()),
}
const version = Type.Integer({ minimum: 1 })

/** A model was created, without versions so far. */
export const modelCreated = event(
  'model.created',
  Type.Object({
    model: Type.String(),
    project: Type.String(),
    owner: Type.String(),
    ...settings,
  }),
  ({ model, project }, who) => `${who} created the model ${model} in project ${project}`,
)

/** The settings of a model, as a whole. */
export const modelChanged = event(
  'model.changed',
  Type.Object({ model: Type.String(), ...settings }),
  ({ model }, who) => `${who} changed the settings of the model ${model}`,
)

/** A model was deleted and no longer protects its artifacts; its name stays taken. */
export const modelDeleted = event(
  'model.deleted',
  Type.Object({ model: Type.String() }),
  ({ model }, who) => `${who} deleted the model ${model}`,
)

/** An artifact became the next version of a model. */
export const modelVersionCreated = event(
  'model.version_created',
  Type.Object({
    model: Type.String(),
    version,
    artifact_id: Type.String(),
    run_id: Type.String(),
    stage_notes: Type.String(),
    license: nullable(Type.String()),
  }),
  ({ model, version, artifact_id, run_id }, who) =>
    `${who} made the artifact ${artifact_id} of run ${run_id} version ${version} of the model ${model}`,
)

/** A version was archived or restored, or its notes were rewritten. */
export const modelVersionChanged = event(
  'model.version_changed',
  Type.Object({
    model: Type.String(),
    version,
    archived: Type.Boolean(),
    stage_notes: Type.String(),
  }),
  ({ model, version, archived }, who) =>
    `${who} changed version ${version} of the model ${model}, which is ${archived ? 'archived' : 'in use'}`,
)

/** An alias names another version from now on; null: none. */
export const modelAliasMoved = event(
  'model.alias_moved',
  Type.Object({
    model: Type.String(),
    alias: Type.String(),
    from_version: nullable(version),
    to_version: nullable(version),
    reason: Type.String(),
  }),
  ({ model, alias, from_version, to_version }, who) =>
    `${who} moved the alias ${alias} of the model ${model} from ${inWords(from_version)} to ${inWords(to_version)}`,
)

/** The move of an alias just before happened although benchmarks refuse the version; `failed` has the reason of each. */
export const modelGatesOverridden = event(
  'model.gates_overridden',
  Type.Object({
    model: Type.String(),
    alias: Type.String(),
    version,
    failed: Type.Array(Type.String()),
  }),
  ({ model, alias, version, failed }, who) =>
    `${who} overrode the benchmarks that refuse version ${version} as ${alias} of the model ${model}: ${failed.join('; ')}`,
)

/** A run that was meant to become a version at its end did not; `reason` explains why. */
export const modelRegistrationFailed = event(
  'model.registration_failed',
  Type.Object({
    model: Type.String(),
    run_id: Type.String(),
    short_id: Type.String(),
    owner: Type.String(),
    reason: Type.String(),
  }),
  ({ model, short_id, reason }, who) =>
    `${who} could not make ${short_id} a version of the model ${model}: ${reason}`,
)

const inWords = (version: number | null) => (version === null ? 'nothing' : `version ${version}`)

const events = [
  modelCreated,
  modelChanged,
  modelDeleted,
  modelVersionCreated,
  modelVersionChanged,
  modelAliasMoved,
  modelGatesOverridden,
  modelRegistrationFailed,
] as const
export type ModelEvent = EventOf<(typeof events)[number]>

export type Version = {
  version: number
  artifact_id: string
  run_id: string
  archived: boolean
  stage_notes: string
}
/** Null before it is created. */
export type Model =
  | (Static<typeof modelCreated.data> & {
      is_deleted: boolean
      versions: Version[]
      aliases: { alias: string; version: number }[]
    })
  | null

function evolve(model: Model, event: ModelEvent): Model {
  if (event.type === 'model.created')
    return { ...event.data, is_deleted: false, versions: [], aliases: [] }
  return model && evolveExisting(model, event)
}

function evolveExisting(
  model: NonNullable<Model>,
  event: Exclude<ModelEvent, { type: 'model.created' }>,
): Model {
  switch (event.type) {
    case 'model.changed':
      return { ...model, ...event.data }
    case 'model.deleted':
      return { ...model, is_deleted: true }
    case 'model.version_created': {
      const { version, artifact_id, run_id, stage_notes } = event.data
      const made = { version, artifact_id, run_id, archived: false, stage_notes }
      return { ...model, versions: [...model.versions, made] }
    }
    case 'model.version_changed': {
      const { version, archived, stage_notes } = event.data
      return {
        ...model,
        versions: model.versions.map(one =>
          one.version === version ? { ...one, archived, stage_notes } : one,
        ),
      }
    }
    case 'model.gates_overridden':
    case 'model.registration_failed':
      return model
    case 'model.alias_moved': {
      const { alias, to_version } = event.data
      const others = model.aliases.filter(one => one.alias !== alias)
      return {
        ...model,
        aliases: to_version === null ? others : [...others, { alias, version: to_version }],
      }
    }
  }
}

export const models = aggregate('model', {
  events,
  initial: null,
  evolve,
  snapshot: { shape: 1 },
})
export const modelAt = (name: string) => models.at(name)
