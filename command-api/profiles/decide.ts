import { isDeepStrictEqual } from 'node:util'
import type { Profile, ProfileEvent, ProfileFacts } from '../../events/profiles.ts'

/** Said again as it is, a profile stays as it is. */
export const setProfile = (profile: Profile, wanted: ProfileFacts): ProfileEvent[] =>
  isDeepStrictEqual(profile, wanted) ? [] : [{ type: 'profile.set', data: wanted }]

export type LocalHardware = { gpus: number; series: string }

const undescribed = {
  name: 'local',
  max_nodes: 1,
  cpus: null,
  memory_gb: null,
  executor: 'local',
  container: false,
  available: true,
  price_per_gpu_hour: '0',
}

/** What the engine of this machine has; everything else stays as an admin set it. */
export const describeLocal = (profile: Profile, { gpus, series }: LocalHardware): ProfileEvent[] =>
  setProfile(profile, { ...undescribed, ...profile, series, gpus_per_node: gpus })
