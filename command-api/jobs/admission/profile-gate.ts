import { type AdmissionFacts, requestOf } from './facts.ts'
import type { Gate, Refused } from './gate.ts'

/** The profile must exist, be allowed for the submitter, and satisfy the request. */
export const profileGate: Gate = facts => {
  const { profile, profiles, spec } = facts
  if (!profile)
    return refusedProfile({
      detail: `No such profile: ${spec.spec.resources.profile ?? '(none named)'}; there ${profiles.length === 0 ? 'are none' : `is ${profiles.join(', ')}`}`,
      data: { profiles },
      hint:
        profiles.length === 0
          ? 'Ask an admin to describe the hardware: PUT /api/admin/profiles/{name}'
          : `Set spec.resources.profile to ${profiles.join(' or ')}`,
    })
  const fault = faultsOf(facts, profile).find(({ isFault }) => isFault)
  return fault === undefined
    ? { ok: true, detail: `${profile.name} meets the request` }
    : refusedProfile({ ...fault, data: { profile: profile.name, ...fault.data } })
}

type Fault = Required<Pick<Refused, 'detail' | 'data' | 'hint'>>

const refusedProfile = ({ detail, data, hint }: Fault): Refused => ({
  ok: false,
  code: 'profile.unfit',
  detail,
  data,
  hint,
})

type KnownProfile = NonNullable<AdmissionFacts['profile']>
type Check = Fault & { isFault: boolean }

/** The requests that the profile cannot satisfy; the first fault counts. */
function faultsOf(facts: AdmissionFacts, profile: KnownProfile): Check[] {
  return [...mayUse(facts, profile), ...fitsRecipe(facts, profile), ...isBigEnough(facts, profile)]
}

const others = 'or use another profile (forge profile list, GET /api/profiles)'

function mayUse({ quota, caller, ...facts }: AdmissionFacts, profile: KnownProfile): Check[] {
  const { name } = profile
  const { allowed_profiles: allowed } = quota
  const series = facts.spec.spec.resources.series ?? profile.series
  return [
    {
      isFault: !profile.available,
      detail: `Profile ${name} is currently not available`,
      data: { limit: 'available' },
      hint: `Ask an admin to make it available, ${others}`,
    },
    {
      isFault: allowed.length > 0 && !allowed.includes(name),
      detail: `Profile ${name} is not allowed for ${caller.username}; allowed: ${allowed.join(', ')}`,
      data: { limit: 'allowed_profiles', requested: name, available: allowed },
      hint: `Set spec.resources.profile to ${allowed.join(' or ')}, or ask an admin for more`,
    },
    {
      isFault: series !== profile.series,
      detail: `Profile ${name} is of series ${profile.series}, not ${series}`,
      data: { limit: 'series', requested: series, available: profile.series },
      hint: `Leave out spec.resources.series, ${others}`,
    },
  ]
}

function fitsRecipe(facts: AdmissionFacts, { name }: KnownProfile): Check[] {
  const { recipe } = facts
  if (!recipe) return []
  const { min_gpus, min_nodes, profiles } = recipe.resources
  const { gpus, nodes } = requestOf(facts)
  return [
    {
      isFault: gpus < min_gpus,
      detail: `Recipe ${recipe.name} needs ${min_gpus} GPUs, the job asks for ${gpus}`,
      data: { limit: 'min_gpus', requested: gpus, available: min_gpus },
      hint: `Ask for at least ${min_gpus} GPUs`,
    },
    {
      isFault: nodes < min_nodes,
      detail: `Recipe ${recipe.name} needs ${min_nodes} nodes: set spec.resources.nodes to that, not ${nodes}`,
      data: { limit: 'min_nodes', requested: nodes, available: min_nodes },
      hint: `Set spec.resources.nodes to ${min_nodes}`,
    },
    {
      isFault: profiles.length > 0 && !profiles.includes(name),
      detail: `Recipe ${recipe.name} is for ${profiles.join(', ')}, not ${name}`,
      data: { limit: 'recipe_profiles', requested: name, available: profiles },
      hint: `Set spec.resources.profile to ${profiles.join(' or ')}`,
    },
  ]
}

function isBigEnough(facts: AdmissionFacts, profile: KnownProfile): Check[] {
  const { name } = profile
  const { nodes, gpus_per_node, gpus } = requestOf(facts)
  // The nodes of a job on one machine share its GPUs.
  const inAll = profile.executor === 'local' ? profile.gpus_per_node : null
  const { cpus, memory_gb } = facts.spec.spec.resources
  const limits = [
    ['max_nodes', nodes, profile.max_nodes, 'nodes'],
    ['gpus_per_node', gpus_per_node, profile.gpus_per_node, 'GPUs per node'],
    ['gpus', gpus, inAll, 'GPUs in total, for all nodes of a job'],
    ['cpus', cpus, profile.cpus, 'CPUs per node'],
    ['memory_gb', memory_gb, profile.memory_gb, 'GB per node'],
  ] as const
  return limits.map(([limit, requested, available, unit]) => ({
    isFault: requested !== null && available !== null && requested > available,
    detail: `Profile ${name} has ${available} ${unit}, not ${requested}`,
    data: { limit, requested, available },
    hint: `Ask for at most ${available} ${unit}, ${others}`,
  }))
}
