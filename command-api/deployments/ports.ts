import type { CatalogueEntry } from '../../recipes/catalogue.ts'
import type { Replica } from '../../schemas/deployments/replicas.ts'

/** Replicas run as jobs; deployments know no more of jobs than this. */
export type ReplicaJobs = {
  /** Idempotent: the same id gives the same job. Throws a `Refusal` if a gate refuses it. */
  submit(replica: Replica): Promise<{ run_id: string }>
  /** Asks the job to end; quiet if it has ended. */
  stop(run_id: string, why: string): Promise<void>
}

/** By its public name, e.g. `vllm`; null if there is none. */
export type FindTemplate = (name: string) => Promise<CatalogueEntry | null>
