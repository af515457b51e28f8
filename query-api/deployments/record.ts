import type { Selectable } from 'kysely'
import type { Pool } from 'pg'
import { isOneOf } from '../../platform/postgres/one-of.ts'
import type { Clock } from '../../platform/time.ts'
import type { DeploymentTables } from '../../projector/deployments/table.ts'
import type { BenchmarkDelta } from '../../schemas/deployments/benchmark-delta.ts'
import { leavingStates } from '../../schemas/deployments/serving-states.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { costsOf } from './cost.ts'
import type { Db } from './find.ts'
import { type LastDay, lastDayOf, noTraffic } from './traffic/last-day.ts'

type Row = Selectable<DeploymentTables['deployments']>
type RevisionRow = Selectable<DeploymentTables['deployment_revisions']>
type Counts = { revisions: number; tokens: number; capturing: number }
type Replicas = { ready: number; desired: number }

type Figures = { counts: Counts; replicas: Replicas; traffic: LastDay; cost_24h: string | null }

export type RecordDeps = {
  /** Connections to the schema `write`: replicas come and go, and have no read model. */
  pool: Pool
  baseUrl: () => string
  now: Clock
  /** Days that captured requests are kept. */
  captureDays: number
}

/** Rows of the list or of a single deployment, each with its counts. */
export async function toDeployments(deps: RecordDeps, db: Db, rows: readonly Row[]) {
  const ids = rows.map(row => row.deployment_id)
  const [counts, replicas] = [await countsOf(db, ids), await replicasOf(deps.pool, ids)]
  const now = deps.now()
  const traffic = await lastDayOf(db, ids, now)
  const costs = await costsOf({ pool: deps.pool, db }, ids, now)
  return rows.map(row => {
    const { deployment_id: id } = row
    return toDeployment(deps, row, {
      counts: counts.get(id) ?? { revisions: 0, tokens: 0, capturing: 0 },
      replicas: replicas.get(id) ?? { ready: 0, desired: 0 },
      traffic: traffic.get(id) ?? noTraffic,
      cost_24h: costs.get(id) ?? null,
    })
  })
}

function toDeployment(
  { baseUrl, captureDays }: RecordDeps,
  row: Row,
  { counts, replicas, traffic, cost_24h }: Figures,
) {
  const { deployment_id, name, owner, project, team, state, state_reason } = row
  const { promoted_revision_id, previous_revision_id, suspended_at, suspended_by } = row
  const { max_body_bytes, timeout_s, max_concurrency, min_replicas: min, max_replicas: max } = row
  const { target, up_window_s, down_window_s, idle_suspend_s } = row
  return {
    ...{ deployment_id, name, owner, project, team, state, state_reason },
    base_url: `${baseUrl()}/inference/${deployment_id}/v1`,
    ...{ promoted_revision_id, previous_revision_id, revision_count: counts.revisions },
    replicas: { min, max, ...replicas },
    autoscaling: { metric: 'concurrency', target, up_window_s, down_window_s, idle_suspend_s },
    limits: { max_body_bytes: Number(max_body_bytes), timeout_s, max_concurrency },
    allowed_origins: row.allowed_origins,
    benchmark_gates: row.benchmark_gates,
    capture: {
      enabled: counts.capturing > 0,
      sample_rate: counts.capturing > 0 ? 1 : 0,
      retention_days: captureDays,
    },
    token_count: counts.tokens,
    created_at: toTimestamp(row.created_at),
    updated_at: toTimestamp(row.updated_at),
    suspended_at: suspended_at && toTimestamp(suspended_at),
    suspended_by,
    traffic_24h: traffic,
    cost_24h,
  }
}

async function countsOf(db: Db, ids: readonly string[]): Promise<Map<string, Counts>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('deployments as d')
    .where('d.deployment_id', 'in', ids)
    .select(eb => {
      const tokens = eb
        .selectFrom('deployment_tokens as t')
        .whereRef('t.deployment_id', '=', 'd.deployment_id')
        .where('t.revoked_at', 'is', null)
        .select(one => one.fn.countAll<number>().as('count'))
      return [
        'd.deployment_id',
        eb
          .selectFrom('deployment_revisions as r')
          .whereRef('r.deployment_id', '=', 'd.deployment_id')
          .select(one => one.fn.countAll<number>().as('count'))
          .$asScalar()
          .$notNull()
          .as('revisions'),
        tokens.$asScalar().$notNull().as('tokens'),
        tokens.where('t.captures', '=', true).$asScalar().$notNull().as('capturing'),
      ]
    })
    .execute()
  return new Map(
    rows.map(({ deployment_id, revisions, tokens, capturing }) => [
      deployment_id,
      { revisions: Number(revisions), tokens: Number(tokens), capturing: Number(capturing) },
    ]),
  )
}

/** Replicas of the promoted revision: how many are ready, and how many there should be. */
async function replicasOf(pool: Pool, ids: readonly string[]): Promise<Map<string, Replicas>> {
  const { rows } = await pool.query<Replicas & { deployment_id: string }>({
    name: 'replicas_of_deployments',
    text: `select d.deployment_id, count(r.replica_id) filter (where r.state = 'ready')::int as ready,
                  count(r.replica_id)::int as desired
             from write.deployment_state d
             left join write.replica r on r.revision_id = d.promoted_revision_id and not ${isOneOf('r.state', leavingStates)}
            where d.deployment_id = any($1) group by d.deployment_id`,
    values: [ids],
  })
  return new Map(rows.map(({ deployment_id, ...counts }) => [deployment_id, counts]))
}

type OfRevision = {
  promoted: boolean
  promoted_at: readonly Date[]
  gates: readonly BenchmarkDelta[]
  engines: readonly Engine[]
}

type Engine = {
  replica_id: string
  run_id: string | null
  state: string
  started_at: string
  last_error: string | null
}

const mostEngines = 20

/** The engines of each of these revisions, newest first. */
export async function enginesOf(
  pool: Pool,
  ids: readonly string[],
): Promise<(revision_id: string) => Engine[]> {
  const { rows } = await pool.query<
    Omit<Engine, 'started_at'> & { revision_id: string; started_at: Date }
  >({
    name: 'engines_of_revisions',
    text: `select r.* from unnest($1::text[]) as v (revision_id) cross join lateral (
             select revision_id, replica_id, run_id, state, started_at, last_error from write.replica r
              where r.revision_id = v.revision_id
              order by state = 'ended', started_at desc, replica_id desc limit ${mostEngines}) r`,
    values: [ids],
  })
  const found = Map.groupBy(rows, row => row.revision_id)
  return id =>
    (found.get(id) ?? []).map(({ revision_id: _, started_at, ...engine }) => ({
      ...engine,
      started_at: toTimestamp(started_at),
    }))
}

/** `promoted_at`: all times of its promotion, oldest first. */
export function toRevision(
  row: RevisionRow,
  { promoted, promoted_at, gates, engines }: OfRevision,
) {
  const { revision_id, deployment_id, number, state, state_reason, source, serving } = row
  const { checks, load_s, ready_at, created_by, created_at } = row
  return {
    ...{ revision_id, deployment_id, number, state, state_reason, promoted, source, serving },
    ...{ checks, gates, engines, load_s, ready_at: ready_at && toTimestamp(ready_at) },
    promoted_at: promoted_at.map(at => toTimestamp(at)),
    ...{ created_by, created_at: toTimestamp(created_at) },
  }
}
