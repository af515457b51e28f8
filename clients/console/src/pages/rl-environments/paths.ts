import type { Static } from 'typebox'
import type {
  rlEnvironment,
  rlEnvironmentUse,
  rlEnvironmentVersionDetail,
} from '../../../../../schemas/rl-environments/rl-environments.ts'
import { type Named, ownedPath } from '../../session/owned-path.ts'

export type { RlEnvironmentVersion as Version } from '../../../../../schemas/rl-environments/rl-environments.ts'
export type Environment = Static<typeof rlEnvironment>
export type VersionDetail = Static<typeof rlEnvironmentVersionDetail>
export type Use = Static<typeof rlEnvironmentUse>

export const pathOf = (of: Named): string => ownedPath('environments', of)

export const pathOfVersion = (of: Named, version: string): string =>
  `${pathOf(of)}/${encodeURIComponent(version)}`
