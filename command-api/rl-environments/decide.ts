import type { RlEnvironment, RlEnvironmentEvent, RlVersion } from '../../events/rl-environments.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { EnvironmentName } from '../../schemas/rl-environments/reference.ts'
import { existing } from '../rules/versions.ts'

/** The maximum of one environment, because its versions are folded together. */
const maxVersions = 1000

type Data<T extends RlEnvironmentEvent['type']> = Extract<RlEnvironmentEvent, { type: T }>['data']

export type Publication = Omit<Data<'environment.published'>, 'visibility'> & {
  /** Undefined: unchanged, at first private. */
  visibility: 'private' | 'public' | undefined
}

/** A version never changes. Idempotent for the same files, except that a failed version is built again. */
export function publishVersion(
  environment: RlEnvironment,
  { visibility = environment?.visibility ?? 'private', ...made }: Publication,
): RlEnvironmentEvent[] {
  const found = environment?.versions.find(one => one.version === made.version)
  const settings =
    environment && environment.visibility !== visibility
      ? changeEnvironment(environment, { ...made, visibility })
      : []
  const isSame = found?.digest === made.digest && !found.is_deleted
  if (isSame && found.state !== 'failed') return settings
  if (found && !isSame) refuseTaken(made, found)
  if (!found && (environment?.versions.length ?? 0) >= maxVersions)
    throw new Refusal(
      'conflict',
      `${made.owner}/${made.name} has ${maxVersions} versions, the maximum`,
    )
  return [{ type: 'environment.published', data: { ...made, visibility } }]
}

function refuseTaken(
  { owner, name, version, digest }: Omit<Publication, 'visibility'>,
  found: RlVersion,
): never {
  const why = found.is_deleted
    ? 'was deleted; versions are not reused'
    : `exists with the digest ${found.digest}, not ${digest}`
  throw new Refusal('conflict', `Version ${version} of ${owner}/${name} ${why}`, {
    code: 'environment.version_exists',
    data: { version, digest: found.digest },
    hint: 'A version never changes: give it another version in environment.yaml',
  })
}

/** Only the first result of a build counts, and none of a deleted version or of other files. */
export function finishBuild(
  environment: RlEnvironment,
  digest: string,
  result: Data<'environment.built'>,
): RlEnvironmentEvent[] {
  const found = environment?.versions.find(one => one.version === result.version)
  if (found?.state !== 'building' || found.is_deleted || found.digest !== digest) return []
  return [{ type: 'environment.built', data: result }]
}

export function changeEnvironment(
  environment: RlEnvironment,
  { owner, name, visibility }: EnvironmentName & { visibility: 'private' | 'public' },
): RlEnvironmentEvent[] {
  if (existing('environment', environment, { owner, name }).visibility === visibility) return []
  return [{ type: 'environment.changed', data: { owner, name, visibility } }]
}
