import {
  chooseVersion,
  type JobRequest,
  type SlurmJob,
  type SlurmNode,
  spoken,
  toJob,
  toNode,
  toSubmission,
  type Version,
} from './dialect.ts'
import { type Rest, SlurmFault } from './rest.ts'

/** Slurm's own error numbers (slurm_errno.h). */
const unknownJob = 2017
const alreadyDone = 2021

/** The calls of this adapter to Slurm. Each may throw `SlurmFault`. */
export type SlurmClient = {
  /** The id of a new job. Without an error number the outcome is unknown: look for the job's name. */
  submit(job: JobRequest): Promise<number>
  /** Null if Slurm does not know it, or no longer: it forgets jobs some minutes after their end. */
  job(id: number): Promise<SlurmJob | null>
  /** All jobs that Slurm remembers with this name. Expensive: it lists every job of the cluster. */
  jobsNamed(name: string): Promise<SlurmJob[]>
  /** Kills a job, or takes it out of the queue. No-op for an ended job. */
  cancel(id: number): Promise<void>
  nodes(): Promise<SlurmNode[]>
}

export function createSlurmClient(rest: Rest): SlurmClient {
  let chosen: Promise<Version> | null = null
  const version = () => {
    chosen ??= findVersion(rest)
    // The next call asks again.
    chosen.catch(() => {
      chosen = null
    })
    return chosen
  }
  const call = async (method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown) => {
    try {
      return await rest(method, `/slurm/${await version()}/${path}`, body)
    } catch (error) {
      // Slurm may have been upgraded meanwhile.
      if (error instanceof SlurmFault && error.number === null && error.status === 404)
        chosen = null
      throw error
    }
  }
  return {
    async submit(job) {
      const submission = toSubmission(await version(), job)
      const said = await call('POST', 'job/submit', submission).catch(unlessTaken)
      const id = field(said, 'job_id')
      if (typeof id !== 'number' || id <= 0)
        throw new SlurmFault('Slurm accepted a job without returning an id')
      return id
    },
    async job(id) {
      const said = await call('GET', `job/${id}`).catch(unlessNumber(unknownJob))
      return jobsIn(said).find(job => job.id === id) ?? null
    },
    async jobsNamed(name) {
      return jobsIn(await call('GET', 'jobs')).filter(job => job.name === name)
    },
    async cancel(id) {
      await call('DELETE', `job/${id}`).catch(unlessNumber(unknownJob, alreadyDone))
    },
    async nodes() {
      const nodes = field(await call('GET', 'nodes'), 'nodes')
      return (Array.isArray(nodes) ? nodes : []).map(toNode).filter(node => node !== null)
    },
  }
}

async function findVersion(rest: Rest): Promise<Version> {
  const version = chooseVersion(await rest('GET', '/openapi'))
  if (version === null)
    throw new SlurmFault(
      `slurmrestd speaks none of ${spoken.join(', ')}: start it with one of them`,
    )
  return version
}

/** Slurm may accept a job and report an error with it, e.g. that all nodes are drained. */
function unlessTaken(error: unknown): unknown {
  if (error instanceof SlurmFault && Number(field(error.body, 'job_id')) > 0) return error.body
  throw error
}

const unlessNumber =
  (...numbers: number[]) =>
  (error: unknown): null => {
    if (error instanceof SlurmFault && error.number !== null && numbers.includes(error.number))
      return null
    throw error
  }

function jobsIn(said: unknown): SlurmJob[] {
  const jobs = field(said, 'jobs')
  return (Array.isArray(jobs) ? jobs : []).map(toJob).filter(job => job !== null)
}

const field = (said: unknown, name: string): unknown =>
  typeof said === 'object' && said !== null
    ? Object.entries(said).find(([key]) => key === name)?.[1]
    : undefined
