import { gpusByType } from './gres.ts'

/**
 * Versions of slurmrestd's interface that this adapter speaks, newest first. Versions from v0.0.40 share one form: states
 * are lists, numbers `{set, infinite, number}`, the environment is a list.
 */
export const spoken = ['v0.0.42', 'v0.0.41', 'v0.0.40', 'v0.0.38'] as const
export type Version = (typeof spoken)[number]

/** The newest version that both sides speak, by the paths in slurmrestd's own description. */
export function chooseVersion(openapi: unknown): Version | null {
  const paths = Object.keys(recordOf(recordOf(openapi).paths))
  return spoken.find(version => paths.some(path => path.includes(`/slurm/${version}/`))) ?? null
}

/** A batch job as we want it. */
export type JobRequest = {
  name: string
  comment: string
  script: string
  /** Its working folder, and the file for its output. */
  directory: string
  output: string
  nodes: number
  gpus_per_node: number
  /** The type of GPU; empty for any type. */
  gpu_type: string
  partition: string | null
  account: string | null
  /** Slurm keeps it and shows it to its administrators: no secrets. */
  environment: Record<string, string>
}

export function toSubmission(version: Version, job: JobRequest): unknown {
  const { script, nodes, gpus_per_node, gpu_type, environment } = job
  const gpus = gpu_type === '' ? String(gpus_per_node) : `${gpu_type}:${gpus_per_node}`
  const common = {
    name: job.name,
    comment: job.comment,
    current_working_directory: job.directory,
    standard_output: job.output,
    tasks: nodes,
    // Without it two tasks may land on one node.
    tasks_per_node: 1,
    ...(job.partition !== null && { partition: job.partition }),
    ...(job.account !== null && { account: job.account }),
  }
  if (version === 'v0.0.38')
    return {
      script,
      job: {
        ...common,
        nodes: [nodes, nodes],
        environment,
        // Another start is our decision, with another attempt.
        no_requeue: true,
        ...(gpus_per_node > 0 && { gpus_per_node: gpus }),
      },
    }
  return {
    job: {
      ...common,
      script,
      nodes: `${nodes}-${nodes}`,
      environment: Object.entries(environment).map(([name, value]) => `${name}=${value}`),
      requeue: false,
      ...(gpus_per_node > 0 && { tres_per_node: `gres/gpu:${gpus}` }),
    },
  }
}

export type SlurmJob = {
  id: number
  name: string
  comment: string
  /** Its state and the flags that Slurm adds, such as COMPLETING. */
  states: string[]
  /** Whether Slurm has given it nodes. */
  placed: boolean
  started_at: Date | null
  ended_at: Date | null
  exit_code: number | null
  /** The number of the signal that ended its script. */
  signal: number | null
}

export function toJob(said: unknown): SlurmJob | null {
  const job = recordOf(said)
  const id = numberOf(job.job_id)
  if (id === null) return null
  return {
    id,
    name: slurmText(job.name),
    comment: slurmText(job.comment),
    states: listOf(job.job_state).map(state => state.toUpperCase()),
    placed: slurmText(job.nodes) !== '',
    started_at: timeOf(job.start_time),
    ended_at: timeOf(job.end_time),
    ...exitOf(job.exit_code),
  }
}

/** States after which nothing of a job happens any more. */
const over = new Set([
  ...['BOOT_FAIL', 'CANCELLED', 'COMPLETED', 'DEADLINE', 'FAILED', 'NODE_FAIL'],
  ...['OUT_OF_MEMORY', 'PREEMPTED', 'REVOKED', 'TIMEOUT'],
])

/** Whether nothing of it runs any more. While it is COMPLETING, its processes are still being ended. */
export const isOver = ({ states }: Pick<SlurmJob, 'states'>): boolean =>
  !states.includes('COMPLETING') && states.some(state => over.has(state))

export type SlurmNode = {
  name: string
  /** Whether Slurm starts further jobs on it. */
  usable: boolean
  partitions: string[]
  /** By type, `''` without one. */
  gpus: Map<string, number>
}

/** States in which a node runs no jobs. */
const unusable =
  /^(DOWN|ERROR|UNKNOWN|FUTURE|DRAIN|DRAINED|DRAINING|FAIL|FAILING|NOT_RESPONDING|NO_RESPOND|POWERED_DOWN|POWERING_DOWN|POWERING_UP|REBOOT\w*|MAINT\w*|PLANNED_DOWN|INVALID_REG|BLOCKED)$/

export function toNode(said: unknown): SlurmNode | null {
  const node = recordOf(said)
  const name = slurmText(node.name)
  if (name === '') return null
  const states = [...listOf(node.state), ...listOf(node.state_flags)].map(state =>
    state.toUpperCase().replace(/\*$/, ''),
  )
  return {
    name,
    usable: states.length > 0 && !states.some(state => unusable.test(state)),
    partitions: listOf(node.partitions),
    gpus: gpusByType(slurmText(node.gres)),
  }
}

const noValue = new Set([0xffff_fffe, 0xffff_ffff, -2, -1])

/** v0.0.38 has the status of wait(2); later versions take it apart. */
function exitOf(said: unknown): Pick<SlurmJob, 'exit_code' | 'signal'> {
  if (typeof said === 'number') {
    if (noValue.has(said)) return { exit_code: null, signal: null }
    const signal = said & 0x7f
    return signal > 0
      ? { exit_code: null, signal }
      : { exit_code: (said >> 8) & 0xff, signal: null }
  }
  const { return_code, signal } = recordOf(said)
  const number = numberOf(recordOf(signal).id) ?? numberOf(recordOf(signal).signal_id)
  if (number) return { exit_code: null, signal: number }
  return { exit_code: numberOf(return_code), signal: null }
}

function timeOf(said: unknown): Date | null {
  const seconds = numberOf(said)
  return seconds === null || seconds <= 0 ? null : new Date(seconds * 1000)
}

/** A number, or `{set, infinite, number}`. */
function numberOf(said: unknown): number | null {
  if (typeof said === 'number') return said
  const { set, infinite, number } = recordOf(said)
  return set !== false && infinite !== true && typeof number === 'number' ? number : null
}

/** A list of words, or one text with commas. */
function listOf(said: unknown): string[] {
  if (Array.isArray(said)) return said.filter(word => typeof word === 'string')
  return typeof said === 'string' && said !== '' ? said.split(',') : []
}

const slurmText = (said: unknown): string => (typeof said === 'string' ? said : '')

const recordOf = (said: unknown): Record<string, unknown> =>
  typeof said === 'object' && said !== null ? { ...said } : {}
