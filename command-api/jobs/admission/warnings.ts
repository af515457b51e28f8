import type { Warning } from '../../../schemas/jobs/jobs.ts'
import { isSecret, mask } from '../../rules/secrets.ts'
import { rulesFor } from './approval.ts'
import { allowedHours, lastRuns } from './estimate.ts'
import { type AdmissionFacts, requestOf } from './facts.ts'
import { quotaGate } from './gates.ts'
import { profileGate } from './profile-gate.ts'

const heldOut = /^(val|valid|validation|eval|test|dev)/i

/** Hints; they refuse nothing. */
export function warningsOf(facts: AdmissionFacts): Warning[] {
  const { spec, profile, executors } = facts
  const { checkpoints, datasets, rules, image, env } = spec.spec
  const unapplied = notApplied(facts)
  const unwatched = notWatched(rules)
  const secrets = Object.entries(env)
    .filter(([name, value]) => isSecret(name, value))
    .map(([name]) => name)
  const all: [boolean, string, string][] = [
    [
      checkpoints.every_steps === null && facts.serving === null,
      'no_checkpoint_policy',
      'checkpoints.every_steps is not set: a stop loses the work since the recipe’s last checkpoint',
    ],
    [
      datasets.length > 0 && !datasets.some(({ as }) => heldOut.test(as)),
      'no_validation_set',
      'no dataset is used for validation',
    ],
    ...deprecations(facts),
    [
      image !== null && profile?.container === false,
      'image_unused',
      `profile ${profile?.name} runs processes, not containers: the image is not used`,
    ],
    [
      profile !== null && !executors.includes(profile.executor),
      'executor_not_configured',
      `profile ${profile?.name} starts jobs on ${profile?.executor}, which this installation is not connected to: the job waits until an admin configures it`,
    ],
    ...aboveHistory(facts),
    ...needsApproval(facts),
    ...couldStartElsewhere(facts),
    [
      secrets.length > 0,
      'secret_in_env',
      `env seems to contain secrets: ${secrets.join(', ')}; the run receives them, and nobody else can see them`,
    ],
    [
      unapplied.length > 0,
      'not_applied',
      `${unapplied.join(', ')}: stored with the job, but nothing applies ${unapplied.length === 1 ? 'it' : 'them'} yet`,
    ],
    [
      unwatched.length > 0,
      'rules_not_watched',
      `${unwatched.join(', ')}: without key and value a comparison never fires`,
    ],
  ]
  return all.filter(([applies]) => applies).map(([, code, detail]) => ({ code, detail }))
}

const deprecations = ({
  recipe,
  deprecated,
  deprecatedEnvironments,
}: AdmissionFacts): [boolean, string, string][] => [
  [
    recipe?.deprecated === true,
    'recipe_deprecated',
    `recipe ${recipe?.name} ${recipe?.version} is deprecated`,
  ],
  [deprecated.length > 0, 'dataset_deprecated', `deprecated: ${deprecated.join(', ')}`],
  [
    deprecatedEnvironments.length > 0,
    'environment_deprecated',
    `deprecated: ${deprecatedEnvironments.join(', ')}`,
  ],
]

function needsApproval(facts: AdmissionFacts): [boolean, string, string][] {
  const names = rulesFor(facts).map(({ name, who }) => `${name} (${who.team ?? `${who.role}s`})`)
  const detail = `the job waits until it is approved: ${names.join(', ')}`
  return [[names.length > 0, 'needs_approval', detail]]
}

/** The job has to wait for GPUs although other profiles that would accept it have enough idle ones. */
function couldStartElsewhere(facts: AdmissionFacts): [boolean, string, string][] {
  const { profile, idle, executors, serving, spec } = facts
  const { gpus } = requestOf(facts)
  const here = idle.find(one => one.profile.name === profile?.name)
  if (!profile || !here || serving !== null || gpus <= here.gpus) return []
  if (spec.spec.scheduling.not_before !== null) return []
  const names = idle
    .filter(one => one.gpus >= gpus && gpus > 0 && executors.includes(one.profile.executor))
    .map(one => ({ ...facts, profile: one.profile }))
    .filter(there => profileGate(there).ok && quotaGate(there).ok)
    .map(one => one.profile.name)
  const detail = `${profile.name} has no room for ${gpus} GPUs now; ${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'} idle and would accept the job (spec.resources.profile)`
  return [[names.length > 0, 'profile_idle', detail]]
}

/** How much more than comparable runs a job may use before it gets a warning. */
const muchMore = 2

/** A time limit far above what runs of the recipe use does not end a hanging run in good time. */
function aboveHistory(facts: AdmissionFacts): [boolean, string, string][] {
  const { past, recipe } = facts
  if (!past || !recipe) return []
  const allowed = allowedHours(facts)
  const detail = `limits.max_duration_s allows ${allowed.toFixed(2)} GPU-hours; the ${lastRuns(past, recipe)} used ${past.gpu_hours.toFixed(2)} (median)`
  const isAbove = Number.isFinite(allowed) && allowed > muchMore * past.gpu_hours
  return [[isAbove, 'cost_above_history', detail]]
}

/** Rules that can never fire: comparisons without a key or without a value. */
const notWatched = (rules: AdmissionFacts['spec']['spec']['rules']): string[] =>
  rules.flatMap(({ when, key, op, value }, index) => {
    const isComparison = when === 'metric' && op !== null && op !== 'nonfinite'
    return isComparison && (key === null || value === null) ? [`rules[${index}]`] : []
  })

/** Keys of the spec that are set but that no engine or timer respects yet. */
function notApplied({ spec }: AdmissionFacts): string[] {
  const { cpus, memory_gb, shm_gb, placement } = spec.spec.resources
  const all: [string, boolean][] = [
    ['resources.cpus', cpus !== null],
    ['resources.memory_gb', memory_gb !== null],
    ['resources.shm_gb', shm_gb !== null],
    ['resources.placement', placement !== 'any'],
  ]
  return all.flatMap(([key, isSet]) => (isSet ? key : []))
}

/** The spec in the form that events carry, without values of `env` that look like secrets (design: secrets never enter an event). */
export function withoutSecrets(spec: AdmissionFacts['spec']): AdmissionFacts['spec'] {
  const env = Object.fromEntries(
    Object.entries(spec.spec.env).map(([name, value]) => [
      name,
      isSecret(name, value) ? mask : value,
    ]),
  )
  return { ...spec, spec: { ...spec.spec, env } }
}
