import { type Kysely, sql } from 'kysely'
import type { HardwareTables } from '../../projector/hardware/table.ts'
import { hardwareReadings } from '../../schemas/hardware.ts'

type Db = Kysely<HardwareTables>
export type Source = Omit<HardwareTables['hardware_sources'], 'run_id'>
/** Inclusive, epoch milliseconds. */
export type Range = { from: number; to: number }
export type Choice = { node?: string; index?: number; scope?: 'gpu' | 'host' }

/** In the order that people expect: by node, then by number. */
export const findSources = (db: Db, runId: string, choice: Choice): Promise<Source[]> =>
  db
    .selectFrom('hardware_sources')
    .select(['source', 'node', 'rank', 'scope', 'index', 'uuid', 'keys'])
    .where('run_id', '=', runId)
    .$if(choice.node !== undefined, rows => rows.where('node', '=', String(choice.node)))
    .$if(choice.index !== undefined, rows => rows.where('index', '=', Number(choice.index)))
    .$if(choice.scope !== undefined, rows => rows.where('scope', '=', choice.scope ?? 'gpu'))
    .orderBy('scope')
    .orderBy('node')
    .orderBy('index')
    .orderBy('rank')
    .orderBy('source')
    .execute()

/** The first and the last point within a range; null if there is none. */
export async function findExtent(
  db: Db,
  runId: string,
  sources: readonly Source[],
  { from, to }: Range,
): Promise<Range | null> {
  const { rows } = await sql<{ from: number | null; to: number | null }>`
    select min(e.first) as "from", max(e.last) as "to"
      from unnest(${sources.map(one => one.source)}::int4[]) s (source),
           lateral (select min(ts) as first, max(ts) as last from hardware_readings p
                     where p.run_id = ${runId} and p.source = s.source and p.ts between ${from} and ${to}) e`.execute(
    db,
  )
  const [extent] = rows
  return extent && extent.from !== null && extent.to !== null
    ? { from: extent.from, to: extent.to }
    : null
}

/** One reading of one source. */
export type Line = { source: Source; key: string; extra: boolean; place: number }

export const linesOfSources = (
  sources: readonly Source[],
  keys: ReadonlySet<string> | null,
): Line[] =>
  sources.flatMap(source =>
    source.keys.flatMap((key, at) =>
      keys === null || keys.has(key)
        ? [{ source, key, extra: !hardwareReadings.includes(key), place: at + 1 }]
        : [],
    ),
  )

export type Bucket = readonly [ts: number, min: number, max: number, mean: number, last: number]

type BucketRow = { source: number; place: number; ts: number; bucket: number } & Record<
  'min' | 'max' | 'mean' | 'last',
  number
> & { count: number }

/**
 * The series of these lines, by `source/place`: in each bucket its true extremes, its mean and its last value. A bucket
 * with a single point has the time of that point.
 */
export async function readBuckets(
  db: Db,
  runId: string,
  lines: readonly Line[],
  { from, to, widthMs }: Range & { widthMs: number },
): Promise<Map<string, Bucket[]>> {
  const { rows } = await sql<BucketRow>`
    select p.source, v.place, (p.ts - ${from}) / ${widthMs} as bucket, min(p.ts) as ts, count(*) as count,
           min(v.reading) as min, max(v.reading) as max, avg(v.reading) as mean,
           (array_agg(v.reading order by p.ts desc))[1] as last
      from hardware_readings p, unnest(p.readings) with ordinality v (reading, place)
     where p.run_id = ${runId} and p.source = any(${[...new Set(lines.map(line => line.source.source))]}::int4[])
       and p.ts between ${from} and ${to} and v.reading is not null
       and (p.source, v.place) in (select * from unnest(${lines.map(line => line.source.source)}::int4[],
                                                        ${lines.map(line => line.place)}::int8[]))
     group by 1, 2, 3 order by 1, 2, 3`.execute(db)
  const series = new Map<string, Bucket[]>()
  for (const { source, place, bucket, ts, count, min, max, mean, last } of rows) {
    const name = `${source}/${place}`
    const points = series.get(name) ?? []
    series.set(name, points)
    points.push([count === 1 ? ts : from + bucket * widthMs, min, max, mean, last])
  }
  return series
}
