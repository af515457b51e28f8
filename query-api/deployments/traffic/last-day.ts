import { sql } from 'kysely'
import { toTimestamp } from '../../../schemas/timestamp.ts'
import type { Db } from '../find.ts'
import { isError } from './errors-sql.ts'

export type LastDay = {
  requests: number
  errors: number
  prompt_tokens: number
  completion_tokens: number
  ttft_ms_p50: number | null
  ttft_ms_p95: number | null
}

export const noTraffic: LastDay = {
  ...{ requests: 0, errors: 0, prompt_tokens: 0, completion_tokens: 0 },
  ...{ ttft_ms_p50: null, ttft_ms_p95: null },
}

export const dayAgo = (now: Date) => new Date(now.getTime() - 86_400_000)

/** Keyed by deployment; only deployments with requests. */
export async function lastDayOf(
  db: Db,
  ids: readonly string[],
  now: Date,
): Promise<Map<string, LastDay>> {
  if (ids.length === 0) return new Map()
  const from = dayAgo(now)
  const { rows } = await sql<LastDay & { deployment_id: string }>`
    select deployment_id, count(*)::int as requests, count(*) filter (where ${isError})::int as errors,
           coalesce(sum(prompt_tokens), 0)::float8 as prompt_tokens,
           coalesce(sum(completion_tokens), 0)::float8 as completion_tokens,
           percentile_cont(0.5) within group (order by ttft_ms) as ttft_ms_p50,
           percentile_cont(0.95) within group (order by ttft_ms) as ttft_ms_p95
      from traffic
     where deployment_id = any(${ids}) and started_at >= ${from}
       and day >= (${from}::timestamptz at time zone 'UTC')::date
     group by deployment_id`.execute(db)
  return new Map(rows.map(({ deployment_id, ...figures }) => [deployment_id, figures]))
}

type Use = { last_used_at: string | null; requests_24h: number }
export const neverUsed: Use = { last_used_at: null, requests_24h: 0 }

/** Keyed by token; only tokens that were used. Daily sums are never deleted, so the last use is always known. */
export async function usesOf(db: Db, deployment_id: string, now: Date): Promise<Map<string, Use>> {
  const from = dayAgo(now)
  const { rows } = await sql<{ token_id: string; last_at: Date; requests: number }>`
    select d.token_id, max(d.last_at) as last_at, coalesce(max(r.requests), 0)::int as requests
      from traffic_daily d
      left join (select token_id, count(*) as requests from traffic
                  where deployment_id = ${deployment_id} and started_at >= ${from}
                    and day >= (${from}::timestamptz at time zone 'UTC')::date
                  group by token_id) r using (token_id)
     where d.deployment_id = ${deployment_id} group by d.token_id`.execute(db)
  return new Map(
    rows.map(({ token_id, last_at, requests }) => [
      token_id,
      { last_used_at: toTimestamp(last_at), requests_24h: requests },
    ]),
  )
}
