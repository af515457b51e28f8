import { type AdmissionFacts, requestOf } from './facts.ts'
import type { Gate, Refused } from './gate.ts'

/** The profile must exist, be allowed for the submitter, and satisfy the request. */
export const profileGate: Gate = facts => {
  const { profile, profiles, spec } = facts
  if (!profile)
    return refusedProfile(
      `No such profile: ${spec.spec.resources.profile ?? '(none named)'}; there ${profiles.length === 0 ? 'are none' : `is ${profiles.join(', ')}`}`,
      { profiles },
    )
  const fault = profileFault(facts, profile)
  return fault === null
    ? { ok: true, detail: `${profile.name} meets the request` }
    : refusedProfile(fault, { profile: profile.name })
}

const refusedProfile = (detail: string, data: Record<string, unknown>): Refused => ({
  ok: false,
  code: 'profile.unfit',
  detail,
  data,
})

type KnownProfile = NonNullable<AdmissionFacts['profile']>

/** The first request that the profile cannot satisfy, or null. */
function profileFault(facts: AdmissionFacts, profile: KnownProfile): string | null {
  const { name } = profile
  const { quota, recipe, caller } = facts
  const { nodes, gpus_per_node, gpus, series } = requestOf(facts)
  const { cpus, memory_gb } = facts.spec.spec.resources
  const allowed = quota.allowed_profiles
  const faults: [boolean, string][] = [
    [!profile.available, `Profile ${name} is not available now`],
    [
      allowed.length > 0 && !allowed.includes(name),
      `Profile ${name} is not allowed for ${caller.username}; allowed: ${allowed.join(', ')}`,
    ],
    [series !== profile.series, `Profile ${name} is of series ${profile.series}, not ${series}`],
    [nodes > profile.max_nodes, `Profile ${name} has ${profile.max_nodes} nodes, not ${nodes}`],
    [
      gpus_per_node > profile.gpus_per_node,
      `Profile ${name} has ${profile.gpus_per_node} GPUs per node, not ${gpus_per_node}`,
    ],
    [
      profile.executor === 'local' && gpus > profile.gpus_per_node,
      `Profile ${name} has ${profile.gpus_per_node} GPUs in all, for all nodes of a job, not ${gpus}`,
    ],
    [
      recipe !== null && gpus < recipe.resources.min_gpus,
      `Recipe ${recipe?.name} needs ${recipe?.resources.min_gpus} GPUs, the job asks for ${gpus}`,
    ],
    [
      recipe !== null && nodes < recipe.resources.min_nodes,
      `Recipe ${recipe?.name} needs ${recipe?.resources.min_nodes} nodes: set spec.resources.nodes to that, not ${nodes}`,
    ],
    [
      recipe !== null &&
        recipe.resources.profiles.length > 0 &&
        !recipe.resources.profiles.includes(name),
      `Recipe ${recipe?.name} is made for ${recipe?.resources.profiles.join(', ')}, not ${name}`,
    ],
    [exceeds(cpus, profile.cpus), `Profile ${name} has ${profile.cpus} CPUs per node, not ${cpus}`],
    [
      exceeds(memory_gb, profile.memory_gb),
      `Profile ${name} has ${profile.memory_gb} GB per node, not ${memory_gb}`,
    ],
  ]
  return faults.find(([isFault]) => isFault)?.[1] ?? null
}

const exceeds = (asked: number | null, there: number | null) =>
  asked !== null && there !== null && asked > there
