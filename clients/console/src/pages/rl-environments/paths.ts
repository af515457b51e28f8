import type { Static } from 'typebox'
import type {
  rlEnvironment,
  rlEnvironmentUse,
  rlEnvironmentVersionDetail,
} from '../../../../../schemas/rl-environments/rl-environments.ts'

export type { RlEnvironmentVersion as Version } from '../../../../../schemas/rl-environments/rl-environments.ts'
export type Environment = Static<typeof rlEnvironment>
export type VersionDetail = Static<typeof rlEnvironmentVersionDetail>
export type Use = Static<typeof rlEnvironmentUse>

export type Named = { owner: string; name: string }

export const pathOf = ({ owner, name }: Named): string =>
  `/api/environments/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`

export const pathOfVersion = (of: Named, version: string): string =>
  `${pathOf(of)}/${encodeURIComponent(version)}`

/** How often a version is read again while it is being built. */
export const whileBuilding = (isBuilding: boolean): number | false => isBuilding && 2_000
