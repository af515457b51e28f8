import type { PoolClient } from 'pg'
import { byteaArray, int4Array, int8Array, textArray } from '../../platform/postgres/arrays.ts'
import { encodeNumberedBlock } from '../../platform/series/numbered-block.ts'
import { createPoints } from '../../platform/series/points.ts'
import { forgetting } from '../forgetting.ts'
import type { TopicProjection } from '../projection.ts'
import { metricsCarryOver } from './carry.ts'
import { forgetRun } from './forget.ts'
import { groupByRun, type RunReports } from './group-by-run.ts'
import { joinReports } from './join.ts'
import { addSummaries, fillInKeys, noSummaries, saveSummaries } from './summaries.ts'

/**
 * Metric points. Each flush appends one block per run and updates the summaries of its keys; the compactor does the
 * rest later. The cost of a flush grows with its runs and keys, not with the stored points.
 */
export function metricsProjection(topic: string): TopicProjection {
  const names = createNames()
  const points = createPoints(16 * 1024)
  const apply: TopicProjection['apply'] = async (tx, batches) => {
    points.length = 0
    const runs = groupByRun(batches, points).filter(run => run.points > 0)
    if (runs.length === 0) return
    await names.learn(tx, runs)
    const numbered = await enterRuns(tx, runs)
    const blocks: Block[] = []
    const summaries = noSummaries()
    for (const run of numbered) {
      const block = joinReports(run.reports, names.numbersOf, points, run.firstRecord)
      blocks.push({ ...run, bytes: encodeNumberedBlock(block) })
      addSummaries(summaries, run.runNo, block)
    }
    await saveBlocks(tx, blocks)
    await saveSummaries(tx, summaries)
  }
  const projection: TopicProjection = {
    name: 'metrics',
    topic,
    onPoison: 'park',
    carryOver: metricsCarryOver,
    reset: names.forget,
    apply,
    applyParked: (tx, batch) => apply(tx, [batch]),
    fillIn: fillInKeys,
  }
  return forgetting(projection, forgetRun)
}

/** Beyond this size, the cache of names is cleared. Names from runs with very many keys are rarely used again. */
const maxNames = 200_000

/** Caches the numbers of key names. Only one projector writes them, so the cache is valid until a failure. */
function createNames() {
  let numbers = new Map<string, number>()
  /** Keyed by array identity: the same list of keys arrives again and again. */
  let lists = new WeakMap<readonly string[], number[]>()
  const forget = () => {
    numbers = new Map()
    lists = new WeakMap()
  }
  return {
    forget,
    async learn(tx: PoolClient, runs: readonly RunReports[]): Promise<void> {
      // Clears before the batch, because the batch uses the names learnt here.
      if (numbers.size > maxNames) forget()
      const fresh = runs
        .flatMap(run => run.reports.map(report => report.keys))
        .filter(keys => !lists.has(keys))
      const unknown = new Set(fresh.flat().filter(key => !numbers.has(key)))
      if (unknown.size === 0) return
      for (const { key, key_no } of await numberNames(tx, [...unknown])) numbers.set(key, key_no)
    },
    numbersOf(keys: readonly string[]): readonly number[] {
      let list = lists.get(keys)
      if (!list) {
        list = keys.map(key => numbers.get(key) ?? missing(key))
        lists.set(keys, list)
      }
      return list
    },
  }
}

function missing(key: string): never {
  throw new Error(`the key '${key}' has no number`)
}

async function numberNames(tx: PoolClient, keys: string[]) {
  const values = [textArray(keys)]
  await tx.query({
    name: 'number_metric_names',
    text: `insert into metric_name (key_no, key)
           select (select coalesce(max(key_no), 0) from metric_name) + row_number() over (order by place), key
             from unnest($1::text[]) with ordinality as given (key, place)
            where not exists (select from metric_name n where n.key = given.key)`,
    values,
  })
  const { rows } = await tx.query<{ key_no: number; key: string }>({
    name: 'read_metric_names',
    text: 'select key_no, key from metric_name where key = any($1::text[])',
    values,
  })
  return rows
}

type NumberedRun = RunReports & { runNo: number; firstRecord: number }

/** Counts the reports of each run; returns the number of its first new one. Locks each run's row. */
async function enterRuns(tx: PoolClient, runs: readonly RunReports[]): Promise<NumberedRun[]> {
  const known = await countReports(tx, runs)
  const fresh = runs.filter(run => !known.has(run.runId))
  if (fresh.length > 0) for (const row of await addRuns(tx, fresh)) known.set(row.run_id, row)
  const settled = [...known.values()].filter(row => !row.live).map(row => row.run_no)
  if (settled.length > 0) await moveToLatest(tx, settled)
  return runs.map(run => {
    const row = known.get(run.runId)
    if (!row) throw new Error(`run ${run.runId} was not entered`)
    return { ...run, runNo: row.run_no, firstRecord: row.records - run.reports.length }
  })
}

type RunRow = { run_id: string; run_no: number; records: number; live: boolean }

const runValues = (runs: readonly RunReports[]) => [
  textArray(runs.map(run => run.runId)),
  int4Array(runs.map(run => run.reports.length)),
  int8Array(runs.map(run => run.points)),
  int8Array(runs.map(run => run.receivedMs)),
  int8Array(runs.map(run => Number(run.firstOffset))),
]

/** A parked report may be earlier than the run's first applied one. */
async function countReports(tx: PoolClient, runs: readonly RunReports[]) {
  const { rows } = await tx.query<RunRow>({
    name: 'count_metric_reports',
    text: `update metric_run r set
             records = r.records + g.records, points = r.points + g.points,
             waiting_points = r.waiting_points + g.points, waiting_blocks = r.waiting_blocks + 1,
             last_received_ms = greatest(r.last_received_ms, g.received_ms),
             first_offset = least(r.first_offset, g.first_offset)
           from unnest($1::text[], $2::int4[], $3::int8[], $4::int8[], $5::int8[])
                g (run_id, records, points, received_ms, first_offset)
           where r.run_id = g.run_id
           returning r.run_id, r.run_no, r.records, r.live`,
    values: runValues(runs),
  })
  return new Map(rows.map(row => [row.run_id, row]))
}

async function addRuns(tx: PoolClient, runs: readonly RunReports[]): Promise<RunRow[]> {
  const { rows } = await tx.query<RunRow>({
    name: 'add_metric_runs',
    text: `insert into metric_run (run_id, run_no, records, points, waiting_points, waiting_blocks,
                                   last_received_ms, compacted_ms, live, inexact, first_offset)
           select run_id, (select coalesce(max(run_no), 0) from metric_run) + row_number() over (),
                  records, points, points, 1, received_ms, 0, true, false, first_offset
             from unnest($1::text[], $2::int4[], $3::int8[], $4::int8[], $5::int8[])
                  g (run_id, records, points, received_ms, first_offset)
           returning run_id, run_no, records, live`,
    values: runValues(runs),
  })
  return rows
}

/** Moves the summaries of a settled run that reports again back to where updates are cheap. */
async function moveToLatest(tx: PoolClient, runNos: number[]): Promise<void> {
  await tx.query({
    name: 'unsettle_metric_runs',
    text: `with moved as (delete from metric_settled where run_no = any($1::int4[]) returning *),
                back as (insert into metric_latest select * from moved)
           update metric_run set live = true where run_no = any($1::int4[])`,
    values: [int4Array(runNos)],
  })
}

type Block = NumberedRun & { bytes: Buffer }

async function saveBlocks(tx: PoolClient, blocks: readonly Block[]): Promise<void> {
  await tx.query({
    name: 'save_metric_blocks',
    text: `insert into metric_block (run_no, first_record, records, points, d)
           select * from unnest($1::int4[], $2::int8[], $3::int4[], $4::int4[], $5::bytea[])`,
    values: [
      int4Array(blocks.map(block => block.runNo)),
      int8Array(blocks.map(block => block.firstRecord)),
      int4Array(blocks.map(block => block.reports.length)),
      int4Array(blocks.map(block => block.points)),
      byteaArray(blocks.map(block => block.bytes)),
    ],
  })
}
