import { isDeepStrictEqual } from 'node:util'
import { toMicro } from '../../events/billing.ts'
import type { Profile, ProfileEvent, ProfileFacts } from '../../events/profiles.ts'

/** Idempotent: setting the same profile appends no event. */
export const setProfile = (profile: Profile, wanted: ProfileFacts): ProfileEvent[] =>
  isDeepStrictEqual(profile, wanted) ? [] : [{ type: 'profile.set', data: wanted }]

/** `3.6` and `3.60` are one price. */
export const isRepriced = (before: ProfileFacts, now: ProfileFacts): boolean =>
  toMicro(before.price_per_gpu_hour) !== toMicro(now.price_per_gpu_hour)

export type LocalHardware = { gpus: number; series: string }

const undescribed = {
  name: 'local',
  cpus: null,
  memory_gb: null,
  executor: 'local',
  container: false,
  available: true,
  price_per_gpu_hour: '0',
}

/**
 * Updates the hardware of this machine; keeps everything an admin set. A job may have as many nodes as there are GPUs: all
 * of them are this machine, and each runs a rank of its own.
 */
export const describeLocal = (profile: Profile, { gpus, series }: LocalHardware): ProfileEvent[] =>
  setProfile(profile, {
    ...undescribed,
    ...profile,
    series,
    gpus_per_node: gpus,
    max_nodes: Math.max(1, gpus),
  })
