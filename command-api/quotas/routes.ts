import { Type } from 'typebox'
import { type QuotaEvent, quotaStream } from '../../events/quotas.ts'
import { type Route, route } from '../../platform/http/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  defaultQuota,
  type Quota,
  type QuotaInput,
  quota,
  quotaInput,
} from '../../schemas/quotas.ts'
import { closed, pageQuery } from '../../schemas/shared.ts'
import { answerPosition, type Deps, stampOf } from '../deps.ts'
import type { Transaction } from '../event-store.ts'
import { type Aggregate, handle } from '../handle.ts'
import { evolve, type SetQuota } from './decide.ts'

const aggregate: Aggregate<SetQuota, QuotaEvent> = { initial: null, evolve }

const listed = Type.Object({ username: Type.String(), ...quota.properties })

export const quotaRoutes = (deps: Deps): Route[] => [
  route({
    method: 'POST',
    path: '/api/admin/quotas',
    credential: 'admin',
    tag: 'admin',
    summary: "Set a user's quota",
    body: quotaInput,
    response: quota,
    refusals: ['not_found'],
    async handle(request) {
      const { body } = request
      const { position } = await handle(
        deps.store,
        {
          stream: quotaStream(body.username),
          aggregate,
          stamp: stampOf(request, deps.now()),
          reserve: tx => saveQuota(tx, body, deps.now()),
        },
        (): QuotaEvent[] => [{ type: 'quota.set', data: body }],
      )
      answerPosition(deps, request, position)
      const { username: _, ...limits } = body
      return { ...limits, default: false }
    },
  }),
  route({
    method: 'GET',
    path: '/api/admin/quotas',
    credential: 'admin',
    tag: 'admin',
    summary: 'List the quota of every user',
    query: closed(pageQuery),
    response: Type.Array(listed),
    handle: async ({ query }) => readQuotas(deps, { limit: 50, offset: 0, ...query }),
  }),
  route({
    method: 'GET',
    path: '/api/admin/quotas/{username}',
    credential: 'admin',
    tag: 'admin',
    summary: "Read a user's quota",
    params: Type.Object({ username: Type.String({ maxLength: 256 }) }),
    response: quota,
    refusals: ['not_found'],
    async handle({ params }) {
      const [found] = await readQuotas(deps, { limit: 1, offset: 0, username: params.username })
      if (!found) throw new Refusal('not_found', `No such user: ${params.username}`)
      const { username: _, ...limits } = found
      return limits
    },
  }),
]

async function saveQuota(tx: Transaction, limits: QuotaInput, now: Date): Promise<void> {
  const { rowCount } = await tx.query('select 1 from auth.person where username = $1', [
    limits.username,
  ])
  if (rowCount === 0) throw new Refusal('not_found', `No such user: ${limits.username}`)
  await tx.query(
    `insert into write.quota (username, max_concurrent_gpus, max_concurrent_jobs, daily_gpu_hours,
                              max_storage_gb, allowed_profiles, priority, per_series, set_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict (username) do update set
       max_concurrent_gpus = excluded.max_concurrent_gpus, max_concurrent_jobs = excluded.max_concurrent_jobs,
       daily_gpu_hours = excluded.daily_gpu_hours, max_storage_gb = excluded.max_storage_gb,
       allowed_profiles = excluded.allowed_profiles, priority = excluded.priority,
       per_series = excluded.per_series, set_at = excluded.set_at`,
    [
      limits.username,
      limits.max_concurrent_gpus,
      limits.max_concurrent_jobs,
      limits.daily_gpu_hours,
      limits.max_storage_gb,
      limits.allowed_profiles,
      limits.priority,
      JSON.stringify(limits.per_series),
      now,
    ],
  )
}

type Page = { limit: number; offset: number; username?: string }

/** Administration of the write side reads its own rows: what is shown is what the next admission decides on. */
async function readQuotas(deps: Deps, page: Page): Promise<({ username: string } & Quota)[]> {
  const { rows } = await deps.pool.query(
    `select p.username, q.set_at, q.max_concurrent_gpus, q.max_concurrent_jobs, q.daily_gpu_hours,
            q.max_storage_gb, q.allowed_profiles, q.priority, q.per_series
       from auth.person p left join write.quota q using (username)
      where $3::text is null or p.username = $3
      order by p.username limit $1 offset $2`,
    [page.limit, page.offset, page.username ?? null],
  )
  return rows.map(({ username, set_at, ...limits }) =>
    set_at === null ? { username, ...defaultQuota } : { username, ...limits, default: false },
  )
}
