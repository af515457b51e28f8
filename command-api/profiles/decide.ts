import { isDeepStrictEqual } from 'node:util'
import { toMicro } from '../../events/calculations/billing.ts'
import type { Profile, ProfileEvent, ProfileFacts } from '../../events/profiles.ts'

/** Idempotent: setting the same profile appends no event. */
export const setProfile = (profile: Profile, wanted: ProfileFacts): ProfileEvent[] =>
  isDeepStrictEqual(profile, wanted) ? [] : [{ type: 'profile.set', data: wanted }]

/** `3.6` and `3.60` are one price. */
export const isRepriced = (before: ProfileFacts, now: ProfileFacts): boolean =>
  toMicro(before.price_per_gpu_hour) !== toMicro(now.price_per_gpu_hour)

/** The hardware that an executor offers; `executor` is its name and that of its profile. */
export type Hardware = Pick<ProfileFacts, 'series' | 'gpus_per_node' | 'max_nodes'> & {
  executor: string
}

const undescribed = {
  cpus: null,
  memory_gb: null,
  container: false,
  available: true,
  price_per_gpu_hour: '0',
}

/** Updates the hardware of an executor; keeps everything an admin set. */
export const describeExecutor = (
  profile: Profile,
  { executor, ...hardware }: Hardware,
): ProfileEvent[] =>
  setProfile(profile, {
    ...undescribed,
    name: executor,
    executor,
    ...profile,
    ...hardware,
  })
