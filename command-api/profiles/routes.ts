import { Type } from 'typebox'
import { type Route, route } from '../../platform/http/route.ts'
import { type ProfileInput, profile, profileInput, profilePath } from '../../schemas/profiles.ts'
import type { Deps } from '../deps.ts'

export const profileRoutes = (deps: Deps): Route[] => [
  route({
    method: 'GET',
    path: '/api/profiles',
    credential: 'person',
    tag: 'profiles',
    summary: 'List the hardware jobs can ask for',
    response: Type.Array(profile),
    async handle() {
      const { rows } = await deps.pool.query(`${selectProfiles} order by name`)
      return rows
    },
  }),
  route({
    method: 'PUT',
    path: '/api/admin/profiles/{name}',
    credential: 'admin',
    tag: 'admin',
    summary: 'Describe hardware jobs can ask for, or its price',
    params: profilePath,
    body: profileInput,
    response: profile,
    async handle({ params, body }) {
      await saveProfile(deps, params.name, body)
      const { rows } = await deps.pool.query(`${selectProfiles} where name = $1`, [params.name])
      return rows[0]
    },
  }),
]

const selectProfiles = `select name, series, gpus_per_node, max_nodes, cpus, memory_gb, executor, container,
                               available, price_per_gpu_hour::text from write.profile`

async function saveProfile(
  { pool }: Pick<Deps, 'pool'>,
  name: string,
  input: ProfileInput,
): Promise<void> {
  await pool.query(
    `insert into write.profile (name, series, gpus_per_node, max_nodes, cpus, memory_gb, executor, container,
                                available, price_per_gpu_hour)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     on conflict (name) do update set
       series = excluded.series, gpus_per_node = excluded.gpus_per_node, max_nodes = excluded.max_nodes,
       cpus = excluded.cpus, memory_gb = excluded.memory_gb, executor = excluded.executor,
       container = excluded.container, available = excluded.available,
       price_per_gpu_hour = excluded.price_per_gpu_hour`,
    [
      name,
      input.series,
      input.gpus_per_node,
      input.max_nodes,
      input.cpus ?? null,
      input.memory_gb ?? null,
      input.executor,
      input.container,
      input.available,
      input.price_per_gpu_hour,
    ],
  )
}

/** What the local engine of this machine has; the price an admin set stays. */
export async function describeLocalProfile(
  { pool }: Pick<Deps, 'pool'>,
  { gpus, series }: { gpus: number; series: string },
): Promise<void> {
  await pool.query(
    `insert into write.profile (name, series, gpus_per_node, max_nodes, executor, container, available)
     values ('local', $1, $2, 1, 'local', false, true)
     on conflict (name) do update set series = excluded.series, gpus_per_node = excluded.gpus_per_node`,
    [series, gpus],
  )
}
