import { type AttemptEnd, attemptEnded } from '../../command-api/jobs/attempt-end.ts'
import { admit, executorRunning, report, schedule } from '../../command-api/jobs/decide.ts'
import type { Stamped } from '../../events/event.ts'
import { type Job, jobs } from '../../events/job-state.ts'
import type { Exit, JobAdmitted, JobEvent } from '../../events/jobs.ts'
import { jobSpec } from '../../schemas/jobs/jobspec.ts'
import { checker } from '../../schemas/validate.ts'
import { recordable } from '../folded.ts'

const checkSpec = checker(jobSpec, 'body')

/** A complete JobSpec from the parts relevant to a test. */
export function specOf(spec: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}) {
  const checked = checkSpec({
    api: 'forge/v2',
    metadata: { name: 'a job', project: 'math-rl', ...metadata },
    lock: {
      name: 'grpo',
      version: '1.4.2',
      digest: `sha256:${'9f'.repeat(32)}`,
      framework: { runtime_id: 'rt_verl' },
    },
    spec: structuredClone(spec),
  })
  if (!checked.ok) throw new Error(JSON.stringify(checked.errors))
  return checked.value
}

export const t0 = Date.parse('2026-11-20T12:00:00.000Z')
/** The instant `seconds` after noon. */
export const at = (seconds: number) => new Date(t0 + seconds * 1000)
export const iso = (seconds: number) => at(seconds).toISOString()

/** The request of a person who stops or pauses a job. */
export const asked = { message: null, graceSeconds: null, now: at(100), force: false }

export function admittedJob(spec: Record<string, unknown> = {}): JobAdmitted {
  const whole = specOf(spec)
  return {
    run_id: 'run_1',
    short_id: 'math-rl-1',
    project: 'math-rl',
    owner: 'ada',
    name: 'a job',
    team: null,
    kind: 'train',
    tags: [],
    notes: '',
    recipe: { name: 'grpo', version: '1.4.2', digest: whole.lock.digest },
    profile: 'local',
    series: 'local',
    gpus: 2,
    nodes: 1,
    priority: 0,
    preemptible: true,
    max_attempts: whole.spec.retry.max_attempts,
    price_per_gpu_hour: '0',
    currency: 'USD',
    spec: whole,
    spec_digest: 'sha256:0',
    params_added: {},
    gates: [],
    warnings: [],
    estimate: null,
    resolved: { init_from: null, datasets: [] },
  }
}

export const stampedAt =
  (seconds: number) =>
  (event: JobEvent): Stamped<JobEvent> => ({
    ...recordable(event),
    occurred_at: iso(seconds),
    actor: { type: 'system', id: 'test', via: 'test' },
  })

/** A job after these decisions, each based on the state after the previous ones. */
export const after = (...decisions: ((job: Job) => JobEvent[])[]): Job =>
  decisions.reduce(
    (job, decide, index) => decide(job).map(stampedAt(index)).reduce(jobs.evolve, job),
    jobs.initial,
  )

export const placement = { executor: 'local', nodes: ['localhost'], gpu_indexes: [0, 1] }

export const admitted =
  (spec: Record<string, unknown> = {}) =>
  (job: Job) =>
    admit(job, admittedJob(spec), null)
export const scheduled = (job: Job) => schedule(job, placement)
export const executorMarked =
  (seconds = 5) =>
  (job: Job) =>
    executorRunning(job, job.attempt, iso(seconds))
export const reported =
  (event: 'starting' | 'running' | 'succeeded' | 'failed', seconds = 10) =>
  (job: Job) =>
    report(job, {
      event,
      attempt: null,
      phase: null,
      exit_code: null,
      message: null,
      at: iso(seconds),
    })
export const exitedZero: Exit = {
  exit_code: 0,
  signal: null,
  oom_killed: false,
  launch_error: null,
  ended_at: iso(20),
}
export const ended =
  (exit: Partial<Exit> = {}, seconds = 20, more: Partial<Omit<AttemptEnd, 'exit'>> = {}) =>
  (job: Job) =>
    attemptEnded(job, {
      attempt: job.attempt,
      was_running: true,
      preempted: false,
      ...more,
      exit: { ...exitedZero, ended_at: iso(seconds), ...exit },
    })
