import test from 'ava'
import { locks } from '../../platform/postgres/locks.ts'
import { withLock } from '../../platform/postgres/with-lock.ts'
import type { HardwareTables } from '../../projector/hardware/table.ts'
import { spanMs, thinSome } from '../../projector/hardware/thin.ts'
import { readLastPoints } from '../../query-api/hardware/last-points.ts'
import {
  findExtent,
  findSources,
  linesOfSources,
  readBuckets,
} from '../../query-api/hardware/read.ts'
import { database } from '../servers/postgres.ts'

type Point = {
  source: number
  ts: number
  readings: (number | null)[]
  throttle: string[] | null
  xid: number | null
}

const start = Date.parse('2026-11-01T00:00:00Z')
const dayMs = 86_400_000
const rawDays = 14
const now = new Date(start + 15 * dayMs)
/** Samples before this are old. */
const border = start + dayMs

/** Two days of two GPUs, one sample a minute, some without a reading. */
const points: Point[] = [0, 1].flatMap(source =>
  Array.from({ length: 2880 }, (_, n) => ({
    source,
    ts: start + n * 60_000,
    readings: n % 7 === 0 ? [n % 100, null] : n % 11 === 0 ? [n % 100] : [n % 100, n + source],
    throttle: n % 50 === 0 ? ['power'] : n % 50 === 1 ? ['thermal'] : null,
    xid: n === 123 ? 79 : null,
  })),
)

async function scene(t: Parameters<typeof database>[0]) {
  const { pool, kysely } = await database<HardwareTables>(t, { schema: 'read' })
  await pool.query(
    `insert into hardware_sources (run_id, source, node, rank, scope, index, keys)
     select 'run_1', n, 'n1', 0, 'gpu', n, '{util_pct,power_w}' from generate_series(0, 1) n`,
  )
  const insert = (some: readonly Point[]) =>
    pool.query(
      `insert into hardware_points (run_id, source, ts, readings, throttle, xid)
       select 'run_1', source, ts, readings, throttle, xid from jsonb_to_recordset($1)
         as p (source int, ts bigint, readings float8[], throttle text[], xid int)`,
      [JSON.stringify(some)],
    )
  const means = async () =>
    (
      await pool.query(
        'select source, ts, readings, counts, throttle, xid from hardware_means order by source, ts',
      )
    ).rows
  return { pool, kysely, insert, means }
}

/** The expected means, computed independently. */
function expected(given: readonly Point[]) {
  const groups = Map.groupBy(
    given.filter(({ ts }) => ts < border),
    ({ source, ts }) => `${source} ${ts - (ts % spanMs)}`,
  )
  return [...groups]
    .map(([name, group]) => {
      const [source = 0, ts = 0] = name.split(' ').map(Number)
      const values = [0, 1].map(place => group.flatMap(({ readings }) => readings[place] ?? []))
      const throttle = [...new Set(group.flatMap(point => point.throttle ?? []))].sort()
      return {
        source,
        ts,
        readings: values.map(of => of.reduce((sum, value) => sum + value, 0) / of.length),
        counts: values.map(of => of.length),
        throttle: throttle.length > 0 ? throttle : null,
        xid: group.find(({ xid }) => xid !== null)?.xid ?? null,
      }
    })
    .sort((a, b) => a.source - b.source || a.ts - b.ts)
}

const rounded = <M extends { readings: number[] }>(means: readonly M[]) =>
  means.map(mean => ({ ...mean, readings: mean.readings.map(value => Number(value.toFixed(9))) }))

test('old samples become means of five minutes, whatever the batches and late arrivals', async t => {
  const { pool, insert, means } = await scene(t)
  const late = (point: Point) => (point.ts / 60_000) % 13 === 0
  await insert(points.filter(point => !late(point)))
  const thin = async (most: number) => {
    const { rows } = await pool.query(
      `select (select count(*) from hardware_points where source = 0 and readings[1] is not null)
            + (select coalesce(sum(counts[1]), 0) from hardware_means where source = 0) as kept`,
    )
    t.is(Number(rows[0].kept), points.filter(p => p.source === 0 && (isIn || !late(p))).length)
    return thinSome({ pool, rawDays, now: () => now }, most)
  }
  let isIn = false
  while (await thin(333));
  await insert(points.filter(late))
  isIn = true
  while (await thin(77));
  t.deepEqual(rounded(await means()), rounded(expected(points)))
  const { rows } = await pool.query('select min(ts) as first, count(*) from hardware_points')
  t.deepEqual(rows, [{ first: border, count: 2880 }])
  t.false(await thinSome({ pool, rawDays: 0, now: () => new Date(now.getTime() + 90 * dayMs) }))
})

test('readers see means and then samples without a gap', async t => {
  const { pool, kysely, insert } = await scene(t)
  await insert(points)
  const sources = await findSources(kysely, 'run_1', {})
  const range = { from: start, to: start + 2 * dayMs }
  const daily = async () => {
    const lines = linesOfSources(sources, new Set(['util_pct']))
    const series = await readBuckets(kysely, 'run_1', lines, { ...range, widthMs: dayMs })
    return [...series].map(([name, buckets]) => [
      name,
      buckets.map(([, , , mean]) => Number(mean.toFixed(6))),
    ])
  }
  const before = { daily: await daily(), last: await readLastPoints(kysely, 'run_1') }
  while (await thinSome({ pool, rawDays, now: () => now }));
  t.deepEqual(await daily(), before.daily)
  t.deepEqual(await findExtent(kysely, 'run_1', sources, range), {
    from: start,
    to: points.at(-1)?.ts,
  })
  const faults = (all: typeof before.last) => all.filter(({ name }) => name === 'xid')
  const last = await readLastPoints(kysely, 'run_1')
  t.deepEqual(
    faults(last).map(({ value }) => value),
    [79, 79],
  )
  t.deepEqual(
    last.filter(({ ts }) => ts >= border),
    before.last.filter(({ ts }) => ts >= border),
  )
})

test('nothing becomes a mean while a rebuild copies the samples', async t => {
  const { pool, insert, means } = await scene(t)
  await insert(points.slice(0, 100))
  await withLock(pool, { lock: locks.logTrim, waitMs: 1000 }, async () => {
    t.false(await thinSome({ pool, rawDays, now: () => now }))
  })
  t.deepEqual(await means(), [])
  t.true(await thinSome({ pool, rawDays, now: () => now }))
})
