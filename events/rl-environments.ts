import { type Static, Type } from 'typebox'
import {
  builtFacts,
  publishedFacts,
  type RlEnvironmentState,
} from '../schemas/rl-environments/rl-environments.ts'
import { oneOf } from '../schemas/shared.ts'
import { aggregate, type EventOf, event } from './event.ts'
import { named, versionDeleted, versionDeprecated } from './versions.ts'

const version = Type.String()

/** An uploaded archive became a version of an RL environment, or a failed version is built again. */
export const environmentPublished = event(
  'environment.published',
  Type.Object(publishedFacts),
  ({ owner, name, version, digest }, who) =>
    `${who} published version ${version} of the environment ${owner}/${name} (${digest})`,
)

/** The build of a version and its smoke rollouts ended. */
export const environmentBuilt = event(
  'environment.built',
  Type.Object({ ...named, version, ...builtFacts }),
  ({ owner, name, version, state, rollouts }, who) =>
    `${who} found version ${version} of the environment ${owner}/${name} ${state} after ${rollouts.length} rollouts`,
)

/** Who sees and uses an environment besides its owner and admins. */
export const environmentChanged = event(
  'environment.changed',
  Type.Object({ ...named, visibility: oneOf('private', 'public') }),
  ({ owner, name, visibility }, who) =>
    `${who} made the environment ${owner}/${name} ${visibility}`,
)

export const environmentDeprecated = versionDeprecated(
  'environment.deprecated',
  'environment',
  version,
)
export const environmentVersionDeleted = versionDeleted(
  'environment.version_deleted',
  'environment',
  version,
)

const events = [
  environmentPublished,
  environmentBuilt,
  environmentChanged,
  environmentDeprecated,
  environmentVersionDeleted,
] as const
export type RlEnvironmentEvent = EventOf<(typeof events)[number]>

export type RlVersion = {
  version: string
  digest: string
  state: RlEnvironmentState
  deprecated_reason: string | null
  is_deleted: boolean
}
/** Null before its first version. */
export type RlEnvironment =
  | (Pick<Static<typeof environmentPublished.data>, 'owner' | 'name' | 'visibility'> & {
      versions: RlVersion[]
    })
  | null

function evolve(environment: RlEnvironment, event: RlEnvironmentEvent): RlEnvironment {
  if (event.type === 'environment.published') return withPublished(environment, event.data)
  if (!environment) return environment
  switch (event.type) {
    case 'environment.built':
      return withVersion(environment, event.data.version, { state: event.data.state })
    case 'environment.changed':
      return { ...environment, visibility: event.data.visibility }
    case 'environment.deprecated':
      return withVersion(environment, event.data.version, {
        state: 'deprecated',
        deprecated_reason: event.data.reason,
      })
    case 'environment.version_deleted':
      return withVersion(environment, event.data.version, { is_deleted: true })
  }
}

type Existing = NonNullable<RlEnvironment>

function withPublished(
  environment: RlEnvironment,
  { owner, name, version, digest, visibility }: Static<typeof environmentPublished.data>,
): Existing {
  const others = environment?.versions.filter(one => one.version !== version) ?? []
  const made = {
    ...{ version, digest, state: 'building' as const },
    ...{ deprecated_reason: null, is_deleted: false },
  }
  return { owner, name, visibility, versions: [...others, made] }
}

const withVersion = (
  environment: Existing,
  version: string,
  change: Partial<RlVersion>,
): Existing => ({
  ...environment,
  versions: environment.versions.map(one =>
    one.version === version ? { ...one, ...change } : one,
  ),
})

export const rlEnvironments = aggregate('rl_environment', {
  events,
  initial: null,
  evolve,
  snapshot: { shape: 1 },
})

export const rlEnvironmentAt = ({ owner, name }: { owner: string; name: string }) =>
  rlEnvironments.at(`${owner}/${name}`)
