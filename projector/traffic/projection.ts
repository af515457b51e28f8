import type { PoolClient } from 'pg'
import { decodeTraffic } from '../../events/traffic.ts'
import type { ReadRecord } from '../../platform/log/event-log.ts'
import type { TrafficRow } from '../../schemas/traffic.ts'
import { forgetIn, recordProjection } from '../forgetting.ts'
import type { TopicProjection } from '../projection.ts'
import { trafficCarryOver } from './carry.ts'

/** Requests to deployments, each stored once however often its row arrives, and daily sums. */
export const trafficProjection = (topic: string): TopicProjection =>
  recordProjection({
    name: 'traffic',
    topic,
    carryOver: trafficCarryOver,
    apply: addRecords,
    applyParked: addRecords,
    // Every topic of facts carries the purges of runs; a deployment's traffic does not belong to a run.
    forget: forgetIn(),
  })

/** Rows per statement. */
const rowsAtOnce = 2_000

async function addRecords(tx: PoolClient, records: readonly ReadRecord[]): Promise<void> {
  await saveDeployments(tx, records)
  const rows = records.flatMap(({ value }) => [...decodeTraffic(value)])
  for (let from = 0; from < rows.length; from += rowsAtOnce)
    await addRows(tx, rows.slice(from, from + rowsAtOnce))
}

/** A parked record may be earlier than the deployment's first applied one. */
async function saveDeployments(tx: PoolClient, records: readonly ReadRecord[]): Promise<void> {
  const begins = new Map(records.toReversed().map(({ key, offset }) => [key, String(offset)]))
  await tx.query({
    name: 'save_traffic_deployments',
    text: `insert into traffic_deployments as t (run_id, first_offset)
           select * from unnest($1::text[], $2::int8[])
           on conflict (run_id) do update set first_offset = least(t.first_offset, excluded.first_offset)`,
    values: [[...begins.keys()], [...begins.values()]],
  })
}

async function addRows(tx: PoolClient, rows: readonly TrafficRow[]): Promise<void> {
  const json = JSON.stringify(rows)
  await tx.query({
    name: 'make_traffic_partitions',
    text: `select traffic_partition(current_schema()::text, day)
             from (select distinct (started_at at time zone 'UTC')::date as day
                     from jsonb_to_recordset($1::jsonb) as r (started_at timestamptz)) days`,
    values: [json],
  })
  await tx.query({ name: 'add_traffic', text: insertAndSum, values: [json] })
}

/** Only new rows count. */
const insertAndSum = `
  with given as (
    select (r.started_at at time zone 'UTC')::date as day, r.*
      from jsonb_to_recordset($1::jsonb) as r (
        request_id text, deployment_id text, revision_id text, token_id text, method text, path text, model text,
        stream boolean, status integer, error_source text, started_at timestamptz, ttft_ms float8,
        duration_ms float8, request_bytes bigint, response_bytes bigint, prompt_tokens bigint,
        completion_tokens bigint, usage_source text, aborted boolean, client_ip text, user_agent text)),
  added as (
    insert into traffic select * from given on conflict do nothing returning *)
  insert into traffic_daily as t (deployment_id, day, token_id, revision_id, requests, errors, aborted,
                                  prompt_tokens, completion_tokens, request_bytes, response_bytes, last_at)
  select deployment_id, day, token_id, coalesce(revision_id, ''), count(*),
         count(*) filter (where status >= 400 or error_source in ('gateway', 'engine')),
         count(*) filter (where aborted), coalesce(sum(prompt_tokens), 0), coalesce(sum(completion_tokens), 0),
         sum(request_bytes), sum(response_bytes), max(started_at)
    from added group by 1, 2, 3, 4
  on conflict (deployment_id, day, token_id, revision_id) do update set
    requests = t.requests + excluded.requests,
    errors = t.errors + excluded.errors,
    aborted = t.aborted + excluded.aborted,
    prompt_tokens = t.prompt_tokens + excluded.prompt_tokens,
    completion_tokens = t.completion_tokens + excluded.completion_tokens,
    request_bytes = t.request_bytes + excluded.request_bytes,
    response_bytes = t.response_bytes + excluded.response_bytes,
    last_at = greatest(t.last_at, excluded.last_at)`
