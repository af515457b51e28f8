import type { SlurmClient } from './client.ts'
import { isOver, type SlurmJob } from './dialect.ts'
import { SlurmFault } from './rest.ts'

type Look = { atMs: number; job: SlurmJob | null }

/** For how long Slurm is not asked again after it did not respond: each question would wait for as long. */
const awayMs = 5000

/** Asks Slurm for jobs, each no more often than a caller needs, and notes since when a job is over. */
export class JobLooks {
  readonly #client: Pick<SlurmClient, 'job'>
  readonly #looks = new Map<number, Look>()
  readonly #overSince = new Map<number, number>()
  #away: { untilMs: number; fault: SlurmFault } | null = null

  constructor(client: Pick<SlurmClient, 'job'>) {
    this.#client = client
  }

  /**
   * As of at most `maxAgeMs` ago; null if Slurm does not know the job. How it ended stays known when Slurm forgets it. A
   * controller that lost its state gives numbers out again: only a job of this name is the one.
   */
  async of(id: number, name: string, maxAgeMs: number): Promise<SlurmJob | null> {
    const last = this.#looks.get(id)
    if (last && performance.now() - last.atMs < maxAgeMs) return last.job
    if (this.#away && performance.now() < this.#away.untilMs) throw this.#away.fault
    const atMs = performance.now()
    try {
      const found = await this.#client.job(id)
      const ended = last?.job && isOver(last.job) ? last.job : null
      const job = found?.name === name ? found : ended
      this.#looks.set(id, { atMs, job })
      this.#away = null
      return job
    } catch (error) {
      if (error instanceof SlurmFault)
        this.#away = { untilMs: performance.now() + awayMs, fault: error }
      throw error
    }
  }

  /** For how long this process has known that the job is over. */
  overForMs(id: number): number {
    const nowMs = performance.now()
    const since = this.#overSince.get(id) ?? nowMs
    this.#overSince.set(id, since)
    return nowMs - since
  }

  forget(id: number): void {
    this.#looks.delete(id)
    this.#overSince.delete(id)
  }
}
