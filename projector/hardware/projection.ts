import type { PoolClient } from 'pg'
import { decodeFact } from '../../events/fact.ts'
import { decodeHardware } from '../../events/hardware.ts'
import type { ReadRecord } from '../../platform/log/event-log.ts'
import { forgetIn, recordProjection } from '../forgetting.ts'
import type { TopicProjection } from '../projection.ts'
import { hardwareCarryOver } from './carry.ts'
import { addPoint, noSources, type RunSources, sourcePlaceOf } from './sources.ts'

/** Machine samples: one row per GPU or machine and time. If two records have the same row, the later one wins. */
export const hardwareProjection = (topic: string): TopicProjection =>
  recordProjection({
    name: 'hardware',
    topic,
    carryOver: hardwareCarryOver,
    apply: addRecords,
    applyParked: addRecords,
    forget: forgetIn('hardware_points', 'hardware_means', 'hardware_sources', 'hardware_runs'),
  })

async function addRecords(tx: PoolClient, records: readonly ReadRecord[]): Promise<void> {
  const begins = new Map(records.toReversed().map(({ key, offset }) => [key, offset]))
  const runs = await loadSources(tx, [...begins.keys()])
  for (const { key, value } of records) {
    const fact = decodeFact(value)
    if (fact.type !== 'hardware.appended') throw new Error(`${fact.type} is not a fact of hardware`)
    const run = runs.get(key)
    if (run) for (const point of decodeHardware(fact.body).points) addPoint(run, point)
  }
  await saveRuns(tx, runs, begins)
  await saveSources(tx, runs)
  await savePoints(tx, runs)
}

async function loadSources(
  tx: PoolClient,
  runIds: readonly string[],
): Promise<Map<string, RunSources>> {
  const runs = new Map(runIds.map(runId => [runId, noSources()]))
  const { rows } = await tx.query({
    name: 'load_hardware_sources',
    text: 'select * from hardware_sources where run_id = any($1)',
    values: [runIds],
  })
  for (const row of rows)
    runs
      .get(row.run_id)
      ?.byPlace.set(sourcePlaceOf(row), { source: row.source, uuid: row.uuid, keys: row.keys })
  return runs
}

/** A parked record may be earlier than the run's first applied one. */
async function saveRuns(
  tx: PoolClient,
  runs: ReadonlyMap<string, RunSources>,
  begins: ReadonlyMap<string, bigint>,
): Promise<void> {
  await tx.query({
    name: 'save_hardware_runs',
    text: `insert into hardware_runs as r (run_id, first_offset, dropped)
           select * from unnest($1::text[], $2::int8[], $3::int8[])
           on conflict (run_id) do update set first_offset = least(r.first_offset, excluded.first_offset),
             dropped = r.dropped + excluded.dropped`,
    values: [
      [...runs.keys()],
      [...runs.keys()].map(runId => String(begins.get(runId) ?? 0n)),
      [...runs.values()].map(run => run.dropped),
    ],
  })
}

async function saveSources(tx: PoolClient, runs: ReadonlyMap<string, RunSources>): Promise<void> {
  const rows = [...runs].flatMap(([run_id, { byPlace, changed }]) =>
    [...changed].flatMap(([place, { node, rank, scope, index }]) => {
      const source = byPlace.get(place)
      return source ? [{ run_id, node, rank, scope, index, ...source }] : []
    }),
  )
  if (rows.length === 0) return
  await tx.query({
    name: 'save_hardware_sources',
    text: `insert into hardware_sources (run_id, source, node, rank, scope, index, uuid, keys)
           select run_id, source, node, rank, scope, index, uuid, keys
             from jsonb_to_recordset($1::jsonb)
               as g (run_id text, source integer, node text, rank integer, scope text, index integer, uuid text, keys text[])
           on conflict (run_id, source) do update set uuid = excluded.uuid, keys = excluded.keys`,
    values: [JSON.stringify(rows)],
  })
}

/** Rows per statement. */
const rowsAtOnce = 5000

async function savePoints(tx: PoolClient, runs: ReadonlyMap<string, RunSources>): Promise<void> {
  const rows = [...runs].flatMap(([run_id, run]) =>
    [...run.rows.values()].map(({ point, source, readings }) => ({
      run_id,
      source,
      ts: point.ts_ms,
      readings,
      throttle: point.throttle.length === 0 ? null : point.throttle,
      xid: point.xid,
    })),
  )
  for (let from = 0; from < rows.length; from += rowsAtOnce)
    await tx.query({
      name: 'save_hardware_points',
      text: `insert into hardware_points (run_id, source, ts, readings, throttle, xid)
             select run_id, source, ts, readings, throttle, xid
               from jsonb_to_recordset($1::jsonb)
                 as g (run_id text, source integer, ts bigint, readings float8[], throttle text[], xid integer)
             on conflict (run_id, source, ts) do update
                set readings = excluded.readings, throttle = excluded.throttle, xid = excluded.xid`,
      values: [JSON.stringify(rows.slice(from, from + rowsAtOnce))],
    })
}
