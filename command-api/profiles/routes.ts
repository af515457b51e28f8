import { type Route, route } from '../../auth/route.ts'
import {
  type Profile,
  type ProfileEvent,
  type ProfileFacts,
  profileAt,
} from '../../events/profiles.ts'
import { profile, profileInput, profilePath } from '../../schemas/profiles.ts'
import type { Asked } from '../commit/asked.ts'
import { type CommitDeps, commit } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { describeExecutor, type Hardware, isRepriced, setProfile } from './decide.ts'

export const profileRoutes = (deps: Deps): Route[] => [
  route({
    method: 'PUT',
    path: '/api/admin/profiles/{name}',
    credential: 'admin',
    tag: 'admin',
    summary: 'Describe hardware jobs can ask for, or its price',
    params: profilePath,
    body: profileInput,
    response: profile,
    async handle(request) {
      const { params, body } = request
      const { name } = params
      const wanted = { name, ...body, cpus: body.cpus ?? null, memory_gb: body.memory_gb ?? null }
      await changeProfile(deps, request, name, current => setProfile(current, wanted))
      const { rows } = await deps.pool.query(`${selectProfiles} where name = $1`, [name])
      return rows[0]
    },
  }),
]

const selectProfiles = `select name, series, gpus_per_node, max_nodes, cpus, memory_gb, executor, container,
                               available, price_per_gpu_hour::text from write.profile`

export const changeProfile = (
  deps: CommitDeps,
  asked: Asked,
  name: string,
  decide: (profile: Profile) => ProfileEvent[],
) =>
  commit(deps, asked, profileAt(name), {
    decide,
    alongside: async (tx, { before, events, now }) => {
      for (const { data } of events) {
        await saveProfile(tx, data)
        if (before !== null && isRepriced(before, data)) await saveRate(tx, data, now)
      }
    },
  })

async function saveProfile(tx: Transaction, facts: ProfileFacts): Promise<void> {
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

/** The price applies from now on, but after any earlier change. For its effect on running jobs see `command-api/jobs/prices.ts`. */
const saveRate = (tx: Transaction, { name, price_per_gpu_hour }: ProfileFacts, now: Date) =>
  tx.query(
    `insert into write.profile_rate (profile, effective_at, price_per_gpu_hour)
     select $1, greatest($2, max(effective_at) + interval '1 millisecond'), $3
       from write.profile_rate where profile = $1`,
    [name, now, price_per_gpu_hour],
  )

/** Records the hardware of an executor as the profile of its name; keeps the price set by an admin. */
export async function describeExecutorProfile(deps: CommitDeps, hardware: Hardware): Promise<void> {
  const { executor } = hardware
  const start = {
    actor: { type: 'system', id: 'executor', via: executor },
    requestId: `executor-${executor}`,
  } as const
  await changeProfile(deps, start, executor, current => describeExecutor(current, hardware))
}
