import type { SlurmClient } from './client.ts'
import { isOver, type SlurmJob } from './dialect.ts'
import { SlurmFault } from './rest.ts'

/** How old Slurm's report of a job may be: for a job that has yet to start, and for a job whose ranks report themselves. */
export const lookMs = { waiting: 1000, running: 5000 }

type Look = { atMs: number; job: SlurmJob | null }

/** A controller that was killed reuses numbers: two jobs may have the same number at once, but not the same name. */
export type Identity = { id: number; name: string }

const keyOfJob = ({ id, name }: Identity): string => `${id} ${name}`

/** How long to leave Slurm alone after it did not respond: each further request would wait just as long. */
const awayMs = 5000

/** Asks Slurm for jobs, each no more often than a caller needs, and remembers when a job was first seen over. */
export class JobLooks {
  readonly #client: Pick<SlurmClient, 'job'>
  readonly #looks = new Map<string, Look>()
  readonly #overSince = new Map<string, number>()
  #away: { untilMs: number; fault: SlurmFault } | null = null

  constructor(client: Pick<SlurmClient, 'job'>) {
    this.#client = client
  }

  /** As of at most `maxAgeMs` ago; null if Slurm does not know the job. How it ended stays known when Slurm forgets it. */
  async of(asked: Identity, maxAgeMs: number): Promise<SlurmJob | null> {
    const key = keyOfJob(asked)
    const last = this.#looks.get(key)
    if (last && performance.now() - last.atMs < maxAgeMs) return last.job
    if (this.#away && performance.now() < this.#away.untilMs) throw this.#away.fault
    const atMs = performance.now()
    try {
      const found = await this.#client.job(asked.id)
      const ended = last?.job && isOver(last.job) ? last.job : null
      const job = found?.name === asked.name ? found : ended
      this.#looks.set(key, { atMs, job })
      if (job && !isOver(job)) this.#overSince.delete(key)
      this.#away = null
      return job
    } catch (error) {
      if (error instanceof SlurmFault)
        this.#away = { untilMs: performance.now() + awayMs, fault: error }
      throw error
    }
  }

  /** For how long this process has known that the job is over. */
  overForMs(asked: Identity): number {
    const key = keyOfJob(asked)
    const nowMs = performance.now()
    const since = this.#overSince.get(key) ?? nowMs
    this.#overSince.set(key, since)
    return nowMs - since
  }

  forget(asked: Identity): void {
    this.#looks.delete(keyOfJob(asked))
    this.#overSince.delete(keyOfJob(asked))
  }
}
