import type { ProfileFacts } from '../../events/profiles.ts'
import type { Transaction } from '../commit/event-store.ts'

export async function saveProfile(tx: Transaction, facts: ProfileFacts): Promise<void> {
  await tx.query(
    `insert into write.profile (name, series, gpus_per_node, max_nodes, cpus, memory_gb, executor, container,
                                available, price_per_gpu_hour)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     on conflict (name) do update set
       series = excluded.series, gpus_per_node = excluded.gpus_per_node, max_nodes = excluded.max_nodes,
       cpus = excluded.cpus, memory_gb = excluded.memory_gb, executor = excluded.executor,
       container = excluded.container, available = excluded.available,
       price_per_gpu_hour = excluded.price_per_gpu_hour`,
    [
      facts.name,
      facts.series,
      facts.gpus_per_node,
      facts.max_nodes,
      facts.cpus,
      facts.memory_gb,
      facts.executor,
      facts.container,
      facts.available,
      facts.price_per_gpu_hour,
    ],
  )
}

/** The price applies from now on, but after any earlier change; planned ones still begin. For its effect on running jobs see `command-api/jobs/prices.ts`. */
export const saveRate = (tx: Transaction, { name, price_per_gpu_hour }: ProfileFacts, now: Date) =>
  tx.query(
    `insert into write.profile_rate (profile, effective_at, price_per_gpu_hour)
     select $1, greatest($2, max(effective_at) + interval '1 millisecond'), $3
       from write.profile_rate where profile = $1 and effective_at <= $2`,
    [name, now, price_per_gpu_hour],
  )
