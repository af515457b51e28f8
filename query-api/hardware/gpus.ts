import { type Kysely, sql } from 'kysely'
import type { HardwareTables } from '../../projector/hardware/table.ts'
import type { GpuSummary } from '../../schemas/hardware.ts'
import type { Range, Source } from './read.ts'
import { idleBelowPct } from './summary.ts'

type Row = Omit<GpuSummary, 'node' | 'rank' | 'index' | 'uuid'> & { source: number }

/**
 * The 1-based index of a reading in each source; 0 if the source lacks it, which gives null in a PostgreSQL array.
 */
const placesOf = (gpus: readonly Source[], key: string) =>
  gpus.map(gpu => gpu.keys.indexOf(key) + 1)

/** A summary of each GPU over this time range. */
export async function readGpus(
  db: Kysely<HardwareTables>,
  runId: string,
  gpus: readonly Source[],
  { from, to }: Range,
): Promise<GpuSummary[]> {
  if (gpus.length === 0) return []
  const { rows } = await sql<Row>`
    select p.source, count(*) as samples,
           avg(p.readings[s.util]) as util_mean_pct,
           avg((p.readings[s.util] < ${idleBelowPct})::int)::float8 as idle_share,
           max(p.readings[s.mem]) as mem_peak_bytes, max(p.readings[s.mem_total]) as mem_total_bytes,
           avg(p.readings[s.power]) as power_mean_w, max(p.readings[s.temp]) as temp_peak_c,
           avg(p.readings[s.clock]) as sm_clock_mean_mhz,
           avg((p.throttle is not null)::int)::float8 as throttled_share,
           coalesce((select array_agg(distinct reason order by reason)
                       from hardware_readings t, unnest(t.throttle) reason
                      where t.run_id = ${runId} and t.source = p.source and t.ts between ${from} and ${to}
                        and t.throttle is not null), '{}') as throttle,
           coalesce(array_agg(distinct p.xid order by p.xid) filter (where p.xid is not null), '{}') as xids
      from hardware_readings p
      join unnest(${gpus.map(gpu => gpu.source)}::int4[], ${placesOf(gpus, 'util_pct')}::int4[],
                  ${placesOf(gpus, 'mem_used_bytes')}::int4[], ${placesOf(gpus, 'mem_total_bytes')}::int4[],
                  ${placesOf(gpus, 'power_w')}::int4[], ${placesOf(gpus, 'temp_c')}::int4[],
                  ${placesOf(gpus, 'sm_clock_mhz')}::int4[])
           s (source, util, mem, mem_total, power, temp, clock) using (source)
     where p.run_id = ${runId} and p.ts between ${from} and ${to}
     group by p.source`.execute(db)
  const bySource = new Map(rows.map(row => [row.source, row]))
  return gpus.flatMap(({ source, node, rank, index, uuid }) => {
    const row = bySource.get(source)
    if (!row) return []
    const { source: _, ...figures } = row
    return [{ node, rank, index, uuid, ...figures }]
  })
}
