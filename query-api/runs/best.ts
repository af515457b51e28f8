import { type Kysely, sql } from 'kysely'
import { decodeChunk, type Series } from '../../platform/series/chunk.ts'
import { decodeNumberedBlock } from '../../platform/series/numbered-block.ts'
import type { MetricTables } from '../../projector/metrics/table.ts'

export type WantedBest = {
  run_id: string
  run_no: number
  key_no: number
  goal: 'min' | 'max'
  /** The extreme from the summary. */
  value: number
}

/** The first step at which each of these metrics reached its extreme. */
export async function bestSteps(
  db: Kysely<MetricTables>,
  wanted: readonly WantedBest[],
): Promise<Map<string, number>> {
  if (wanted.length === 0) return new Map()
  const { rows } = await sql<{ run_no: number; key_no: number; first: number; d: Buffer }>`
    select c.run_no, c.key_no, c.first_step as first, c.d
      from unnest(${wanted.map(one => one.run_no)}::int[], ${wanted.map(one => one.key_no)}::int[],
                  ${wanted.map(one => one.value)}::float8[]) w (run_no, key_no, value),
   lateral (select * from metric_chunk c where c.run_no = w.run_no and c.key_no = w.key_no
               and (c.min = w.value or c.max = w.value) order by c.first_step limit 1) c`.execute(
    db,
  )
  const steps = new Map<string, number>()
  const missing: WantedBest[] = []
  for (const one of wanted) {
    const row = rows.find(({ run_no, key_no }) => run_no === one.run_no && key_no === one.key_no)
    const step = row ? stepOf(decodeChunk(row.d), one.value) : null
    if (step === null) missing.push(one)
    else steps.set(one.run_id, step)
  }
  for (const one of missing) {
    const step = await waitingStep(db, one)
    if (step !== null) steps.set(one.run_id, step)
  }
  return steps
}

/** Searches the uncompacted points. */
async function waitingStep(db: Kysely<MetricTables>, one: WantedBest): Promise<number | null> {
  const rows = await db
    .selectFrom('metric_block')
    .select('d')
    .where('run_no', '=', one.run_no)
    .orderBy('first_record')
    .execute()
  for (const { d } of rows) {
    const { keys, counts, points } = decodeNumberedBlock(d)
    const index = keys.indexOf(one.key_no)
    const from = counts.slice(0, Math.max(0, index)).reduce((sum, count) => sum + count, 0)
    const to = from + (index < 0 ? 0 : (counts[index] ?? 0))
    const at = points.values.subarray(from, to).indexOf(one.value)
    if (at >= 0) return points.steps[from + at] ?? null
  }
  return null
}

function stepOf({ steps, values }: Series, value: number): number | null {
  const at = values.indexOf(value)
  return at < 0 ? null : (steps[at] ?? null)
}
