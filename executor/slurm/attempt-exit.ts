import { constants } from 'node:os'
import type { Exit } from '../../events/jobs.ts'
import type { ExitRecord } from '../attempts/attempt-directory.ts'
import type { SlurmJob } from './dialect.ts'

/** The evidence about an attempt whose processes have all ended. */
export type Ended = {
  /** By rank; null: it left no record. */
  ranks: readonly (ExitRecord | null)[]
  /** When the first rank started, if one did. */
  started_at: string | null
  /** Null: Slurm does not know the job, or was not asked. */
  job: SlurmJob | null
  /** Whether we asked for the end. */
  stopped: boolean
  /** The last lines that Slurm and the job's script printed. */
  printed: string
  now: Date
}

/** Slurm withdrew the nodes; the texts are for people. */
const takenAway: Record<string, string> = {
  NODE_FAIL: 'one of its nodes failed',
  BOOT_FAIL: 'one of its nodes did not boot',
  PREEMPTED: 'Slurm gave its nodes to another job',
  TIMEOUT: 'the time limit of its partition was reached',
  DEADLINE: 'its deadline in Slurm was reached',
}

/** How the attempt ended. The first rank that failed decides, unless Slurm ended them all. */
export function attemptExit(ended: Ended): ExitRecord {
  const { ranks, job, stopped, now } = ended
  const records = ranks.filter(rank => rank !== null)
  const all = {
    started_at: ended.started_at ?? startOfLost(ended),
    ended_at: lastEnd(ended) ?? now.toISOString(),
  }
  const lost = stopped ? undefined : job?.states.map(state => takenAway[state]).find(Boolean)
  if (lost !== undefined) return { ...all, ...nobodySaw(`${nameOfJob(job)}: ${lost}`) }
  if (job?.states.includes('OUT_OF_MEMORY')) return { ...all, ...died('SIGKILL'), oom_killed: true }
  const failed = firstFailed(ranks)
  if (failed) return { ...failed, ...all }
  const [first] = records
  if (first && records.length === ranks.length) return { ...first, ...all }
  return { ...all, ...withoutRecord(ended) }
}

/**
 * Whether the records of all ranks explain why they ended. Slurm ends preempted jobs by signals, and its mark may appear later
 * than the end; then only Slurm knows.
 */
export const isExplained = (
  { exits, interrupted }: { exits: Ended['ranks']; interrupted: boolean },
  stopped: boolean,
): boolean => !interrupted && (stopped || !['SIGTERM', 'SIGKILL'].includes(signalOf(exits)))

const signalOf = (ranks: Ended['ranks']): string => firstFailed(ranks)?.signal ?? ''

const firstFailed = (ranks: Ended['ranks']): ExitRecord | undefined =>
  ranks
    .filter(rank => rank !== null)
    .filter(rank => rank.exit_code !== 0)
    .sort(byEnd)[0]

const byEnd = (a: ExitRecord, b: ExitRecord) => (a.ended_at < b.ended_at ? -1 : 1)

/** When the last rank ended. A rank without a record may have run for as long as the job, which held all nodes until then. */
function lastEnd({ ranks, job }: Ended): string | undefined {
  const ends = ranks.map(rank => rank?.ended_at ?? job?.ended_at?.toISOString())
  return ends
    .filter(end => end !== undefined)
    .sort()
    .at(-1)
}

/** Slurm gave it nodes, so it is lost rather than never started. */
function startOfLost({ job, stopped }: Ended): string | null {
  if (stopped || !job?.states.some(state => state in takenAway)) return null
  return job.started_at?.toISOString() ?? null
}

function withoutRecord({ started_at, job, stopped, printed }: Ended): Omit<Exit, 'ended_at'> {
  const last = printed === '' ? '' : `; its last output: ${printed}`
  if (started_at !== null && (stopped || job?.states.includes('CANCELLED'))) return died('SIGKILL')
  if (stopped) return nobodySaw('stopped before it was started')
  if (job === null)
    return nobodySaw(`Slurm no longer knows its job, which left no record of its end${last}`)
  if (job.states.includes('CANCELLED')) return nobodySaw(`${nameOfJob(job)} was cancelled in Slurm`)
  const how = job.signal === null ? `exit code ${job.exit_code}` : signalName(job.signal)
  const when = started_at === null ? 'before its program started' : 'without a record of its end'
  return nobodySaw(`${nameOfJob(job)} ended (${job.states.join(', ')}, ${how}) ${when}${last}`)
}

const nameOfJob = (job: SlurmJob | null) => (job ? `Slurm job ${job.id}` : 'its Slurm job')

const nobodySaw = (launch_error: string): Omit<Exit, 'ended_at'> => ({
  exit_code: null,
  signal: null,
  oom_killed: false,
  launch_error: launch_error.slice(0, 2000),
})

const died = (signal: string): Omit<Exit, 'ended_at'> => ({
  exit_code: null,
  signal,
  oom_killed: false,
  launch_error: null,
})

function signalName(number: number): string {
  const [name] = Object.entries(constants.signals).find(([, value]) => value === number) ?? []
  return name ?? `signal ${number}`
}
