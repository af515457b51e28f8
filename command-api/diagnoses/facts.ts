import type { DiagnosisFacts, EndFacts, Observed } from '../../events/diagnosis-facts.ts'
import type { Stamped } from '../../events/event.ts'
import { jobAt, jobs } from '../../events/job-state.ts'
import { type JobEvent, paramsOf } from '../../events/jobs.ts'
import { type RunEvent, runAt, runs } from '../../events/runs.ts'
import type { Deps } from '../deps.ts'

export type FactsAbout = Omit<DiagnosisFacts, keyof Observed>

export type About = { run_id: string; source: 'job' | 'external'; attempt: number | null }

/** The facts about this attempt in the run's events. */
export async function factsAbout(
  { store }: Pick<Deps, 'store'>,
  { run_id, source, attempt }: About,
  now: Date,
): Promise<FactsAbout> {
  if (source === 'external') {
    const { events } = await store.load<RunEvent>(runAt(run_id).stream)
    return ofExternal(events, now)
  }
  const { events } = await store.load<JobEvent>(jobAt(run_id).stream)
  return ofJob(events, attempt ?? 0, now)
}

const noEnd: EndFacts = {
  reason: null,
  message: null,
  exit_code: null,
  signal: null,
  oom_killed: false,
  launch_error: null,
}

type JobFact<T extends JobEvent['type']> = Stamped<Extract<JobEvent, { type: T }>>

/** The last event of these types that belongs to the attempt. */
function lastOf<T extends JobEvent['type']>(
  events: readonly Stamped<JobEvent>[],
  attempt: number,
  ...types: readonly T[]
): JobFact<T> | undefined {
  return events.findLast(
    ({ type, data }) =>
      types.some(wanted => wanted === type) && (!('attempt' in data) || data.attempt === attempt),
  ) as JobFact<T> | undefined
}

export function ofJob(
  events: readonly Stamped<JobEvent>[],
  attempt: number,
  now: Date,
): FactsAbout {
  const { state } = events.reduce(jobs.evolve, jobs.initial)
  const admitted = lastOf(events, attempt, 'job.admitted')
  const ended = lastOf(events, attempt, 'job.failed', 'job.stopped', 'job.succeeded')
  const exited = lastOf(events, attempt, 'job.exited')
  const began = lastOf(events, attempt, 'job.running') ?? lastOf(events, attempt, 'job.starting')
  const asked = lastOf(events, attempt, 'job.stop_requested')
  const until = (ended?.data.reason === 'limit' ? asked : undefined) ?? ended ?? exited
  return {
    state: state ?? 'pending',
    attempt,
    end: endOf(events, attempt),
    spec: admitted?.data.spec ?? null,
    params: admitted ? paramsOf(admitted.data) : {},
    started_ms: began ? Date.parse(began.occurred_at) : null,
    until_ms: until ? Date.parse(until.occurred_at) : now.getTime(),
  }
}

function endOf(events: readonly Stamped<JobEvent>[], attempt: number): EndFacts {
  const ended = lastOf(events, attempt, 'job.failed', 'job.stopped', 'job.succeeded')?.data
  const exited = lastOf(events, attempt, 'job.exited')?.data
  const { signal, oom_killed, launch_error } = exited ?? noEnd
  return {
    reason: ended?.reason ?? reasonOf(lastOf(events, attempt, 'job.retried', 'job.preempted')),
    message: ended?.message ?? null,
    exit_code: exited?.exit_code ?? ended?.exit_code ?? null,
    ...{ signal, oom_killed, launch_error },
  }
}

function reasonOf(left: JobFact<'job.retried' | 'job.preempted'> | undefined): string | null {
  if (left === undefined) return null
  return left.type === 'job.preempted' ? 'preemption' : left.data.reason
}

export function ofExternal(events: readonly Stamped<RunEvent>[], now: Date): FactsAbout {
  const { state, started_at, ended_at } = events.reduce(runs.evolve, runs.initial)
  const failed = events.findLast(({ type }) => type === 'run.failed')
  const stopped = events.findLast(({ type }) => type === 'run.stopped')
  return {
    state: state ?? 'pending',
    attempt: null,
    end: {
      ...noEnd,
      ...(failed?.type === 'run.failed' && {
        reason: 'reported',
        message: failed.data.message,
        exit_code: failed.data.exit_code,
      }),
      ...(stopped?.type === 'run.stopped' && {
        reason: 'user',
        message: stopped.data.reason,
        exit_code: stopped.data.exit_code,
      }),
    },
    spec: null,
    params: {},
    started_ms: started_at === null ? null : Date.parse(started_at),
    until_ms: ended_at === null ? now.getTime() : Date.parse(ended_at),
  }
}
