import { type Static, Type } from 'typebox'
import { closed, nullable, oneOf, pageQuery, timestamp } from '../shared.ts'
import { manifestFacts } from './manifest.ts'
import { reference } from './reference.ts'

/** The RL environments of people; the software in which a run ran is `schemas/environment.ts`. */
export const rlEnvironmentStates = ['building', 'ready', 'failed', 'deprecated'] as const
export type RlEnvironmentState = (typeof rlEnvironmentStates)[number]

/** How many rollouts are run when a version is published. */
export const smokeRollouts = 4

const visibility = () => oneOf('private', 'public')
const versionPath = () => Type.String({ minLength: 1, maxLength: 128 })

/** The body of `POST /api/environments`. The archive says the name and the version. */
export const rlEnvironmentInput = closed({
  /** Sent with the purpose `environment`, and registered. */
  upload_id: Type.String({ minLength: 1, maxLength: 128 }),
  /** Admins publish for others; by default the caller. */
  owner: Type.Optional(reference.owner()),
  visibility: Type.Optional(visibility()),
  /** A deployment, by id or name, that the smoke rollouts talk to; without one there is no baseline. */
  deployment: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 128 }))),
})
export type RlEnvironmentInput = Static<typeof rlEnvironmentInput>

export const rlEnvironmentPatch = closed({ visibility: visibility() })
export const rlEnvironmentDeprecation = closed({ reason: Type.String({ maxLength: 1000 }) })

export const rlEnvironmentPath = Type.Object({
  owner: reference.owner(),
  name: Type.String({ minLength: 1, maxLength: 128 }),
})
export const rlEnvironmentVersionPath = Type.Object({
  owner: reference.owner(),
  name: Type.String({ minLength: 1, maxLength: 128 }),
  version: versionPath(),
})

/** `dry_run`: only lists what the deletion would break; `force`: deletes although ended runs used it. */
export const rlEnvironmentDeletionQuery = closed({
  dry_run: Type.Optional(Type.Boolean()),
  force: Type.Optional(Type.Boolean()),
})

export const rlEnvironmentListQuery = closed({
  ...pageQuery,
  q: Type.Optional(Type.String({ maxLength: 200 })),
  owner: Type.Optional(Type.String({ maxLength: 128 })),
})
export const pageOfRlEnvironment = closed(pageQuery)

/** The archive of an environment requested by a run that uses it. */
export const rlEnvironmentOfRunQuery = closed({
  run_id: Type.String({ minLength: 1, maxLength: 128 }),
  environment_ref: reference.whole(),
  file: Type.String({ minLength: 1, maxLength: 64 }),
})

/** The name of the archive for the preparation of runs. */
export const archiveName = 'environment.tar.gz'

/** One rollout; a failed one has no reward. */
export const smokeRollout = Type.Object({
  reward: nullable(Type.Number()),
  error: nullable(Type.String()),
  duration_s: Type.Number({ minimum: 0 }),
})
export type SmokeRollout = Static<typeof smokeRollout>

/** A version, as recorded when it was published. */
export const publishedFacts = {
  owner: Type.String(),
  name: Type.String(),
  version: Type.String(),
  /** Covers the names and contents of its files, as the digest of a recipe does. */
  digest: Type.String(),
  upload_id: Type.String(),
  archive_sha256: Type.String(),
  archive_bytes: Type.Integer({ minimum: 0 }),
  ...manifestFacts,
  visibility: visibility(),
  /** The deployment for the smoke rollouts. */
  deployment_id: nullable(Type.String()),
}

/** What the build of a version found. */
export const builtFacts = {
  state: oneOf('ready', 'failed'),
  /** Why it failed. */
  error: nullable(Type.String()),
  /** The end of the output of build and rollouts. */
  log: Type.String(),
  rollouts: Type.Array(smokeRollout),
  /** The revision that was asked. */
  revision_id: nullable(Type.String()),
}

/** Rewards of the smoke rollouts; null without them. */
const baseline = nullable(
  Type.Object({
    /** Null to people who may not change the environment. */
    deployment_id: nullable(Type.String()),
    revision_id: nullable(Type.String()),
    mean: Type.Number(),
    min: Type.Number(),
    max: Type.Number(),
    rewards: Type.Array(Type.Number()),
  }),
)
export type Baseline = Static<typeof baseline>

const { requirements, reward, ...manifest } = manifestFacts

const versionRow = {
  /** `owner/name@version`, as jobs name it. */
  ref: Type.String(),
  environment: Type.String(),
  owner: Type.String(),
  name: Type.String(),
  version: Type.String(),
  digest: Type.String(),
  state: oneOf(...rlEnvironmentStates),
  ...manifest,
  reward: Type.Object({ ...reward.properties, baseline_mean: nullable(Type.Number()) }),
  requirements,
  baseline,
  error: nullable(Type.String()),
  visibility: visibility(),
  archive_bytes: Type.Integer({ minimum: 0 }),
  deprecated_reason: nullable(Type.String()),
  created_by: Type.String(),
  created_at: timestamp(),
  built_at: nullable(timestamp()),
  /** Runs that used it, as far as the caller may read them. */
  used_by_count: Type.Integer({ minimum: 0 }),
}
export const rlEnvironmentVersion = Type.Object(versionRow)
export type RlEnvironmentVersion = Static<typeof rlEnvironmentVersion>

export const rlEnvironmentVersionDetail = Type.Object({
  ...versionRow,
  rollouts: Type.Array(smokeRollout),
  log: Type.String(),
})

export const rlEnvironment = Type.Object({
  /** `owner/name`. */
  environment: Type.String(),
  owner: Type.String(),
  name: Type.String(),
  visibility: visibility(),
  may_write: Type.Boolean(),
  versions: Type.Integer({ minimum: 0 }),
  /** The newest version; null if all were deleted. */
  newest: nullable(rlEnvironmentVersion),
  created_at: timestamp(),
  updated_at: timestamp(),
})

/** A run that used a version. */
export const rlEnvironmentUse = Type.Object({
  run_id: Type.String(),
  name: Type.String(),
  owner: Type.String(),
  state: Type.String(),
  digest: Type.String(),
  weight: Type.Number(),
  created_at: timestamp(),
})

/** `created`: false if the version exists with the same files; a failed one is then built again. */
export const rlEnvironmentPublished = Type.Object({
  ref: Type.String(),
  environment: Type.String(),
  owner: Type.String(),
  version: Type.String(),
  digest: Type.String(),
  state: oneOf(...rlEnvironmentStates),
  /** Says so if the version will have no baseline. */
  notice: nullable(Type.String()),
  created: Type.Boolean(),
})
export const rlEnvironmentChanged = Type.Object({
  environment: Type.String(),
  visibility: visibility(),
  changed: Type.Boolean(),
})
export const rlEnvironmentDeprecated = Type.Object({
  ref: Type.String(),
  state: oneOf(...rlEnvironmentStates),
  reason: Type.String(),
  changed: Type.Boolean(),
})
/** `would_break`: at most 100; with `dry_run`, nothing is deleted. */
export const rlEnvironmentDeleted = Type.Object({
  ref: Type.String(),
  deleted: Type.Boolean(),
  would_break: Type.Array(Type.Object({ type: Type.Literal('run'), id: Type.String() })),
})
