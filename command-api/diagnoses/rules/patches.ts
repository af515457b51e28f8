import type { Suggestion } from '../../../schemas/diagnoses.ts'
import type { Case } from './finding.ts'

type Risk = Suggestion['risk']

/** A suggestion that a person has to carry out. */
export const action = (title: string, risk: Risk = 'low'): Suggestion => ({
  title,
  kind: 'action',
  patch: null,
  risk,
})

const patched = (title: string, spec: Record<string, unknown>, risk: Risk): Suggestion => ({
  title,
  kind: 'spec_patch',
  patch: { spec },
  risk,
})

/** Parameters with one of these names, the most specific first; `names` in order of preference. */
function numberNamed({ params }: Case, names: readonly RegExp[]): [string, number] | null {
  for (const name of names)
    for (const [key, value] of Object.entries(params))
      if (name.test(key) && typeof value === 'number' && value > 0) return [key, value]
  return null
}

const batchNames = [
  /(?:^|[._])(?:micro_?batch(?:_size)?|per_device_train_batch_size|ppo_micro_batch_size\w*)$/i,
  /(?:^|[._])(?:train_)?batch_size$/i,
  /(?:^|[._])batch$/i,
]
const accumulationNames = [
  /(?:^|[._])(?:gradient_accumulation_steps|grad_accum(?:ulation)?(?:_steps)?)$/i,
]
const lengthNames = [
  /(?:^|[._])(?:max_(?:seq_?|prompt_|response_)?len(?:gth)?|seq_?len(?:gth)?|block_size|context(?:_length)?)$/i,
]
const rateNames = [/(?:^|[._])(?:lr|learning_rate)$/i, /(?:^|[._])max_lr$/i]
const clipNames = [/(?:^|[._])(?:max_grad_norm|grad_clip|clip_grad(?:_norm)?|gradient_clip_val)$/i]
const workerNames = [/(?:^|[._])(?:num_workers|dataloader_num_workers|workers)$/i]

const halfOf = (value: number) => Math.floor(value / 2)

/** A smaller batch, with more accumulation steps if the recipe has them, so that the training stays equivalent. */
export function halveBatch(given: Case): Suggestion[] {
  const batch = numberNamed(given, batchNames)
  if (batch === null) return [action('Use a smaller batch')]
  const [name, value] = batch
  if (!Number.isInteger(value) || value < 2) return []
  const accumulation = numberNamed(given, accumulationNames)
  const more = accumulation === null ? {} : { [accumulation[0]]: accumulation[1] * 2 }
  const rest = accumulation === null ? '' : `, and double ${accumulation[0]}`
  return [
    patched(
      `Halve ${name} to ${halfOf(value)}${rest}`,
      { params: { [name]: halfOf(value), ...more } },
      accumulation === null ? 'medium' : 'low',
    ),
  ]
}

export function checkpointActivations({ params }: Case): Suggestion[] {
  const name = Object.keys(params).find(
    key => /(?:^|[._])(?:gradient|activation)_checkpointing$/i.test(key) && params[key] === false,
  )
  if (name === undefined) return []
  return [
    patched(`Switch ${name} on: slower, but uses less memory`, { params: { [name]: true } }, 'low'),
  ]
}

export function shortenSequences(given: Case): Suggestion[] {
  const length = numberNamed(given, lengthNames)
  if (length === null || length[1] < 256) return []
  const [name, value] = length
  const title = `Halve ${name} to ${halfOf(value)}`
  return [patched(title, { params: { [name]: halfOf(value) } }, 'high')]
}

export function lowerRate(given: Case): Suggestion[] {
  const rate = numberNamed(given, rateNames)
  if (rate === null) return [action('Use a lower learning rate')]
  const [name, value] = rate
  // Without the extra digits of the division.
  const less = Number((value / 10).toPrecision(6))
  return [patched(`Lower ${name} to ${less}`, { params: { [name]: less } }, 'medium')]
}

export function clipGradients(given: Case): Suggestion[] {
  const limit = numberNamed(given, clipNames)
  if (limit === null || limit[1] <= 1) return []
  return [patched(`Lower ${limit[0]} to 1`, { params: { [limit[0]]: 1 } }, 'low')]
}

export function fewerWorkers(given: Case): Suggestion[] {
  const workers = numberNamed(given, workerNames)
  if (workers === null) return []
  const [name, value] = workers
  return [
    patched(`Halve ${name} to ${halfOf(value)}`, { params: { [name]: halfOf(value) } }, 'low'),
  ]
}

const bigger = { memory_gb: 65_536, shm_gb: 65_536, disk_gb: 1_048_576 } as const
const wordOf = { memory_gb: 'memory', shm_gb: 'shared memory', disk_gb: 'disk space' } as const

/** Doubles the requested amount. */
export function moreOf({ spec }: Case, what: keyof typeof bigger): Suggestion[] {
  const asked = spec?.spec.resources[what] ?? null
  if (asked === null || asked === 0)
    return [action(`Request more ${wordOf[what]} (spec.resources.${what})`)]
  const twice = Math.min(asked * 2, bigger[what])
  const title = `Request ${twice} GB of ${wordOf[what]} instead of ${asked}`
  return twice === asked ? [] : [patched(title, { resources: { [what]: twice } }, 'low')]
}

export function longerLimit(
  { spec }: Case,
  which: 'max_duration_s' | 'max_pending_s',
): Suggestion[] {
  const limit = spec?.spec.limits[which] ?? null
  if (limit === null) return []
  const twice = Math.min(limit * 2, 31_536_000)
  return [
    patched(`Raise ${which} from ${limit} to ${twice}`, { limits: { [which]: twice } }, 'low'),
  ]
}

export function tryAgain({ spec }: Case, on: 'node_failure' | 'preemption'): Suggestion[] {
  if (spec === null) return [action('Start it again')]
  const { max_attempts, on: causes } = spec.spec.retry
  if (max_attempts >= 3 && causes.includes(on)) return [action('Retry the job: forge retry')]
  const retry = { max_attempts: Math.max(3, max_attempts), on: [...new Set([...causes, on])] }
  return [
    patched(`Retry automatically, up to ${retry.max_attempts} attempts in total`, { retry }, 'low'),
  ]
}

/** An environment variable that the job does not set. */
export function setVariable({ spec }: Case, name: string, value: string): Suggestion[] {
  if (spec === null || spec.spec.env[name] === value) return []
  return [patched(`Set ${name}=${value}`, { env: { [name]: value } }, 'low')]
}

export function keepFewerCheckpoints({ spec }: Case): Suggestion[] {
  if (spec === null) return []
  const { keep } = spec.spec.checkpoints
  if (keep !== null && keep.latest <= 1 && keep.every_nth === 0) return []
  return [
    patched(
      'Keep only the newest checkpoint and the best one',
      {
        checkpoints: { keep: { latest: 1, every_nth: 0 } },
      },
      'low',
    ),
  ]
}

export function beginAnew({ spec }: Case): Suggestion[] {
  if (spec === null || spec.spec.init_from === null) return []
  return [patched('Start without the checkpoint', { init_from: null }, 'high')]
}
