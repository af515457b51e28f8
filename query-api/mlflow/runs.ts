import { type RawBuilder, sql } from 'kysely'
import { toJsonNumber } from '../../platform/series/json-number.ts'
import type { MlflowInput } from '../../projector/mlflow/table.ts'
import {
  artifactUri,
  type MlflowRunAnswer,
  type MlflowRunInfo,
  type MlflowStatus,
  runNameTag,
} from '../../schemas/mlflow.ts'
import type { Db } from './scope.ts'

/**
 * The status of run `r` with its row `m` of `mlflow_runs`: Forge's own once the run has ended, before that the
 * client's.
 */
export const statusOf: RawBuilder<string> = sql<string>`
  case r.state when 'succeeded' then 'FINISHED' when 'stopped' then 'KILLED'
               when 'failed' then 'FAILED' when 'abandoned' then 'FAILED'
               else coalesce(m.status, case r.state when 'running' then 'RUNNING' else 'SCHEDULED' end) end`
export const nameOfMlflowRun: RawBuilder<string> = sql<string>`
  coalesce(nullif(m.tags ->> ${sql.lit(runNameTag)}, ''), r.name, r.short_id)`
export const startOf: RawBuilder<number> = sql<number>`
  floor(extract(epoch from coalesce(r.started_at, r.created_at)) * 1000)::bigint`
export const endOf: RawBuilder<number | null> = sql<number | null>`
  coalesce(floor(extract(epoch from r.ended_at) * 1000)::bigint, m.end_time_ms)`

type Head = {
  run_id: string
  name: string
  project: string
  owner: string
  status: MlflowStatus
  start_ms: number
  end_ms: number | null
  tags: Record<string, string> | null
}

/** These runs in MLflow's format, in the given order; missing ones are left out. */
export async function readRuns(db: Db, runIds: readonly string[]): Promise<MlflowRunAnswer[]> {
  if (runIds.length === 0) return []
  const [heads, metrics, params, inputs] = await Promise.all([
    readHeads(db, runIds),
    readMetrics(db, runIds),
    readParams(db, runIds),
    readInputs(db, runIds),
  ])
  return runIds.flatMap(run_id => {
    const head = heads.get(run_id)
    if (!head) return []
    return {
      info: toInfo(head),
      data: {
        metrics: metrics.get(run_id) ?? [],
        params: params.get(run_id) ?? [],
        tags: tagsOf(head).map(toPair),
      },
      inputs: { dataset_inputs: inputs.get(run_id) ?? [] },
    }
  })
}

/** The name first. */
const tagsOf = ({ name, tags }: Head): (readonly [string, string])[] => [
  [runNameTag, name],
  ...Object.entries(tags ?? {}).filter(([key]) => key !== runNameTag),
]

const toPair = ([key, value]: readonly [string, string]) => ({ key, value })

function toInfo({ run_id, name, project, owner, status, start_ms, end_ms }: Head): MlflowRunInfo {
  return {
    run_id,
    run_uuid: run_id,
    run_name: name,
    experiment_id: project,
    user_id: owner,
    status,
    start_time: start_ms,
    ...(end_ms !== null && { end_time: end_ms }),
    artifact_uri: artifactUri(run_id),
    lifecycle_stage: 'active',
  }
}

async function readHeads(db: Db, runIds: readonly string[]): Promise<Map<string, Head>> {
  const { rows } = await sql<Head>`
    select r.run_id, ${nameOfMlflowRun} as name, r.project, r.owner, ${statusOf} as status,
           ${startOf} as start_ms, ${endOf} as end_ms, m.tags
      from runs r left join mlflow_runs m using (run_id)
     where r.run_id = any(${runIds}) and r.deleted_at is null`.execute(db)
  return new Map(rows.map(row => [row.run_id, row]))
}

type Metric = { run_id: string; key: string; last: number; last_ts: number; last_step: number }

async function readMetrics(db: Db, runIds: readonly string[]) {
  const { rows } = await sql<Metric>`
    select m.run_id, n.key, s.last, s.last_ts, s.last_step
      from metric_run m join metric_summary s using (run_no) join metric_name n using (key_no)
     where m.run_id = any(${runIds}) order by n.key collate "C"`.execute(db)
  return grouped(rows, ({ key, last, last_ts, last_step }) => ({
    key,
    value: toJsonNumber(last),
    timestamp: last_ts,
    step: last_step,
  }))
}

/** Values as text; numbers and texts look as Python prints them. */
async function readParams(db: Db, runIds: readonly string[]) {
  const { rows } = await sql<{ run_id: string; key: string; value: string | null }>`
    select h.run_id, p.key, p.value
      from run_hparams h, jsonb_each_text(h.params) p
     where h.run_id = any(${runIds}) order by p.key collate "C"`.execute(db)
  return grouped(rows, ({ key, value }) => ({ key, value: value ?? 'None' }))
}

async function readInputs(db: Db, runIds: readonly string[]) {
  const { rows } = await sql<{ run_id: string; input: MlflowInput }>`
    select run_id, input from mlflow_inputs
     where run_id = any(${runIds}) order by version, place`.execute(db)
  return grouped(rows, ({ input: { tags, schema, profile, ...dataset } }) => ({
    tags: Object.entries(tags).map(toPair),
    dataset: {
      ...dataset,
      ...(schema !== null && { schema }),
      ...(profile !== null && { profile }),
    },
  }))
}

const grouped = <R extends { run_id: string }, T>(rows: readonly R[], to: (row: R) => T) =>
  new Map([...Map.groupBy(rows, row => row.run_id)].map(([runId, ofRun]) => [runId, ofRun.map(to)]))
