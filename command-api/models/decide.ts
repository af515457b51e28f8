import type { Model, ModelEvent, Version } from '../../events/models.ts'
import { Refusal } from '../../platform/refusal.ts'
import { isReservedAlias, type ModelPatch, type VersionPatch } from '../../schemas/models.ts'

/** The maximum of one model, because they are folded together. */
const maxVersions = 2000
const maxAliases = 100

type Existing = NonNullable<Model>
type Created = Extract<ModelEvent, { type: 'model.created' }>['data']

/** A name is never reused, so that records that name a model keep their meaning. */
export function createModel(model: Model, data: Created): ModelEvent[] {
  if (model)
    throw new Refusal('conflict', `The name ${data.model} is taken`, { code: 'model.name_taken' })
  return [{ type: 'model.created', data }]
}

export function changeModel(model: Model, name: string, patch: ModelPatch): ModelEvent[] {
  const { description, protected_aliases } = existing(model, name)
  const before = { description, protected_aliases }
  const data = { ...before, ...patch }
  if (JSON.stringify(data) === JSON.stringify(before)) return []
  return [{ type: 'model.changed', data: { model: name, ...data } }]
}

/** Users of an alias must not lose it unnoticed. */
export function deleteModel(model: Model, name: string): ModelEvent[] {
  const { aliases } = existing(model, name)
  if (aliases.length > 0)
    throw new Refusal(
      'conflict',
      `The model ${name} has aliases: ${aliases.map(one => one.alias).join(', ')}`,
      { code: 'model.has_aliases', hint: 'Remove its aliases first' },
    )
  return [{ type: 'model.deleted', data: { model: name } }]
}

type NewVersion = {
  artifact_id: string
  run_id: string
  stage_notes: string
  license: string | null
}

/** Numbers count up and are never reused. */
export function createVersion(model: Model, name: string, made: NewVersion): ModelEvent[] {
  const { versions } = existing(model, name)
  const same = versions.find(one => one.artifact_id === made.artifact_id)
  if (same)
    throw new Refusal('conflict', `The artifact is already version ${same.version} of ${name}`, {
      code: 'model.version_exists',
      data: { version: same.version },
    })
  if (versions.length >= maxVersions)
    throw new Refusal('conflict', `The model ${name} has ${maxVersions} versions, the maximum`)
  return [
    {
      type: 'model.version_created',
      data: { model: name, version: versions.length + 1, ...made },
    },
  ]
}

export function changeVersion(
  model: Model,
  { model: name, version }: { model: string; version: number },
  patch: VersionPatch,
): ModelEvent[] {
  const known = existing(model, name)
  const { archived, stage_notes } = versionOf(known, version)
  const data = { archived, stage_notes, ...patch }
  if (data.archived === archived && data.stage_notes === stage_notes) return []
  const aliases = known.aliases.filter(one => one.version === version)
  if (data.archived && aliases.length > 0)
    throw new Refusal(
      'conflict',
      `Version ${version} is ${aliases.map(one => one.alias).join(', ')} of ${name}`,
      { code: 'model.version_has_aliases', hint: 'Move or remove these aliases first' },
    )
  return [{ type: 'model.version_changed', data: { model: name, version, ...data } }]
}

export type AliasMove = {
  model: string
  alias: string
  /** Null removes it. */
  to: number | null
  reason: string
  /** The version that the caller expects it to name; null: none; undefined: it does not matter. */
  expected: number | null | undefined
  /** Whether the caller may move protected aliases. */
  mayMoveProtected: boolean
  /** The benchmarks that refuse the version, which a maintainer overrides. */
  overridden?: readonly string[]
}

export function moveAlias(model: Model, asked: AliasMove): ModelEvent[] {
  const known = existing(model, asked.model)
  const { alias, to, reason, expected, overridden = [] } = asked
  refuseAlias(known, asked)
  const from = known.aliases.find(one => one.alias === alias)?.version ?? null
  if (expected !== undefined && expected !== from)
    throw new Refusal(
      'conflict',
      `The alias ${alias} of ${known.model} names ${inWords(from)}, not ${inWords(expected)}`,
      { code: 'model.alias_moved', data: { version: from } },
    )
  if (to === null && from === null)
    throw new Refusal('not_found', `The model ${known.model} has no alias ${alias}`)
  if (to !== null) refuseTarget(known, to, from)
  if (to === from) return []
  return [
    {
      type: 'model.alias_moved',
      data: { model: known.model, alias, from_version: from, to_version: to, reason },
    },
    ...(to === null ? [] : overrides({ model: known.model, alias, version: to }, overridden)),
  ]
}

const overrides = (
  data: { model: string; alias: string; version: number },
  overridden: readonly string[],
): ModelEvent[] =>
  overridden.length === 0
    ? []
    : [{ type: 'model.gates_overridden', data: { ...data, failed: [...overridden] } }]

function refuseAlias(known: Existing, { alias, mayMoveProtected }: AliasMove): void {
  if (isReservedAlias(alias))
    throw new Refusal('invalid', `${alias} cannot be an alias: it reads like a version`)
  if (known.protected_aliases.includes(alias) && !mayMoveProtected)
    throw new Refusal(
      'forbidden',
      `The alias ${alias} is protected: only ${known.owner}, maintainers of project ${known.project} and admins may move it`,
      { code: 'model.alias_protected' },
    )
}

function refuseTarget(known: Existing, to: number, from: number | null): void {
  const { archived } = versionOf(known, to)
  if (archived)
    throw new Refusal('conflict', `Version ${to} of ${known.model} is archived`, {
      code: 'model.version_archived',
    })
  if (from === null && known.aliases.length >= maxAliases)
    throw new Refusal('conflict', `The model ${known.model} has ${maxAliases} aliases`)
}

const inWords = (version: number | null) => (version === null ? 'nothing' : `version ${version}`)

function existing(model: Model, name: string): Existing {
  if (!model || model.is_deleted) throw new Refusal('not_found', `No such model: ${name}`)
  return model
}

export function versionOf({ versions, model }: Existing, wanted: number): Version {
  const found = versions.find(one => one.version === wanted)
  if (!found) throw new Refusal('not_found', `The model ${model} has no version ${wanted}`)
  return found
}
