import type { Pool, PoolClient } from 'pg'
import type { Batch } from '../../platform/log/event-log.ts'
import { partitionOf } from '../../platform/log/partition.ts'
import { inTransactionOn } from '../../platform/postgres/transaction.ts'
import { lockRows, unlockRows } from '../../platform/postgres/with-lock.ts'
import { live, next } from '../generations.ts'
import type { CarryOver, TopicProjection } from '../projection.ts'

export type CarryOverDeps = {
  /** Connections without a search path. */
  pool: Pool
  /** Maximum rows of one transaction, except for a single larger run. */
  rangeRows: number
  signal: AbortSignal
}

type Carrying = CarryOverDeps & { projection: TopicProjection; carryOver: CarryOver }
type Run = { run_id: string; id: number | string; weight: number; partition: number }

const maxRunsAtOnce = 200

/** Creates the table of carried runs: records of a run before `through_offset` are already in its rows. */
export const prepareCarryOver = (pool: Pool) =>
  pool.query(
    `create table ${next}.carried (
       projection text not null, run_id text not null, partition integer not null, through_offset bigint not null,
       primary key (projection, run_id))`,
  )

/**
 * Copies the runs whose first records were trimmed or were on an earlier log (`starts`: the first offset of each partition), a few per
 * transaction, while the live projector continues. Returns for each partition the offset up to which records may
 * belong to carried runs.
 */
export async function carryOverRuns(
  deps: CarryOverDeps,
  projection: TopicProjection,
  starts: readonly bigint[],
): Promise<bigint[]> {
  if (projection.carryOver === null)
    throw new Error(
      `The log of ${projection.topic} has lost its beginning, without which ${projection.name} cannot be rebuilt`,
    )
  const carrying = { ...deps, projection, carryOver: projection.carryOver }
  for await (const runs of lostRuns(carrying, starts)) await carry(carrying, runs)
  for (const [partition, start] of starts.entries())
    await carryDeadLetters(carrying, partition, start)
  return carriedThrough(deps.pool, projection, starts.length)
}

/** Batches of runs that the log no longer holds completely, in the order of their ids. */
async function* lostRuns(carrying: Carrying, starts: readonly bigint[]) {
  const { pool, carryOver, rangeRows, signal } = carrying
  const latest = starts.reduce((most, start) => (start > most ? start : most), 0n)
  for (let after = ''; !signal.aborted; ) {
    const { rows } = await pool.query<Run & { first_offset: number }>(
      `select r.run_id, r.${carryOver.id} as id, r.first_offset, ${carryOver.weight} as weight
         from ${live}.${carryOver.runs} r where r.run_id > $1 and r.first_offset < $2
        order by r.run_id limit ${maxRunsAtOnce}`,
      [after, String(latest)],
    )
    const last = rows.at(-1)
    if (!last) return
    after = last.run_id
    const lost = rows
      .map(row => ({ ...row, partition: partitionOf(row.run_id, starts.length) }))
      .filter(row => BigInt(row.first_offset) < (starts[row.partition] ?? 0n))
    yield* bunch(lost, rangeRows)
  }
}

function bunch(runs: readonly Run[], most: number): Run[][] {
  const bunches: Run[][] = []
  let room = 0
  for (const run of runs) {
    const size = Number(run.weight) + 1
    if (size > room) {
      bunches.push([])
      room = most
    }
    bunches.at(-1)?.push(run)
    room -= size
  }
  return bunches
}

/** Copies rows that may still change from one snapshot; copies immutable rows in ranges. */
async function carry(carrying: Carrying, runs: readonly Run[]): Promise<void> {
  const { pool, carryOver } = carrying
  const ids = runs.map(run => run.id)
  const locked = carryOver.lockedIn && {
    schema: live,
    table: carryOver.lockedIn,
    numbers: ids.map(Number),
  }
  const holder = await pool.connect()
  let broken: Error | undefined
  try {
    if (locked) await lockRows(holder, locked)
    const copyHeads = () => carryHeads(carrying, holder, runs)
    await inTransactionOn(holder, copyHeads, { isolation: 'repeatable read' })
    for (const rest of carryOver.rest) await carryRest(carrying, rest, ids)
    if (locked) await unlockRows(holder, locked)
  } catch (error) {
    broken = error as Error
    throw error
  } finally {
    // Closing the connection releases the locks too.
    holder.release(broken)
  }
}

/** The live projector commits checkpoint and rows together, so one snapshot shows which records the rows include. */
async function carryHeads(
  { projection: { name, topic }, carryOver }: Carrying,
  tx: PoolClient,
  runs: readonly Run[],
): Promise<void> {
  const ids = runs.map(run => run.id)
  await tx.query(
    `insert into ${next}.carried (projection, run_id, partition, through_offset)
     select c.projection, g.run_id, c.partition, c.next_offset
       from unnest($3::text[], $4::int4[]) g (run_id, partition)
       join ${live}.projection_checkpoint c
         on (c.projection, c.topic, c.partition) = ($1, $2, g.partition)`,
    [name, topic, runs.map(run => run.run_id), runs.map(run => run.partition)],
  )
  await tx.query(
    `insert into ${next}.${carryOver.runs}
     select * from ${live}.${carryOver.runs} where ${carryOver.id} = any($1)`,
    [ids],
  )
  for (const statement of carryOver.heads) await tx.query(statement, [ids])
}

async function carryRest(
  { pool, rangeRows, signal }: Carrying,
  { table, key, where }: CarryOver['rest'][number],
  ids: readonly (number | string)[],
): Promise<void> {
  const columns = key.join(', ')
  const ofRow = key.map(column => `t.${column}`).join(', ')
  for (let after: unknown[] = []; !signal.aborted; ) {
    const behind =
      after.length === 0 ? '' : `and (${ofRow}) > (${after.map((_, i) => `$${i + 2}`).join(', ')})`
    const { rows } = await pool.query(
      `with moved as (
         insert into ${next}.${table}
         select t.* from ${live}.${table} t
          where t.${key[0]} = any($1) and ${where} ${behind}
          order by ${ofRow} limit ${rangeRows}
         returning ${columns})
       select ${columns} from moved order by ${key.map(column => `${column} desc`).join(', ')} limit 1`,
      [ids, ...after],
    )
    if (rows.length === 0) return
    after = key.map(column => rows[0][column])
  }
}

/** Copies the dead letters of records that were trimmed from the log. */
async function carryDeadLetters(
  { pool, projection: { topic }, rangeRows, signal }: Carrying,
  partition: number,
  start: bigint,
): Promise<void> {
  for (let after = '-1'; !signal.aborted; ) {
    const { rows } = await pool.query(
      `with moved as (
         insert into ${next}.dead_letter
         select d.* from ${live}.dead_letter d
          where d.topic = $1 and d.partition = $2 and d."offset" > $3 and d."offset" < $4
          order by d."offset" limit ${rangeRows}
         returning "offset")
       select max("offset")::text as last from moved`,
      [topic, partition, after, String(start)],
    )
    if (rows[0].last === null) return
    after = rows[0].last
  }
}

async function carriedThrough(
  pool: Pool,
  { name }: TopicProjection,
  partitions: number,
): Promise<bigint[]> {
  const { rows } = await pool.query(
    `select partition, max(through_offset)::text as through from ${next}.carried
      where projection = $1 group by partition`,
    [name],
  )
  const through = new Map(rows.map(row => [row.partition, BigInt(row.through)]))
  return Array.from({ length: partitions }, (_, partition) => through.get(partition) ?? 0n)
}

/**
 * Wraps a projection so that it skips records whose effect was carried over with their run. From offset `through`
 * on, a partition has no such records.
 */
export const withoutCarried = (
  projection: TopicProjection,
  through: readonly bigint[],
): TopicProjection => ({
  ...projection,
  async apply(tx, batches) {
    const left: Batch[] = []
    for (const batch of batches) {
      const mayBeCarried = (batch.records[0]?.offset ?? 0n) < (through[batch.partition] ?? 0n)
      const rest = mayBeCarried ? await dropCarried(tx, projection, batch) : batch
      if (rest.records.length > 0) left.push(rest)
    }
    if (left.length > 0) await projection.apply(tx, left)
  },
})

async function dropCarried(
  tx: PoolClient,
  { name, topic }: TopicProjection,
  { partition, records }: Batch,
): Promise<Batch> {
  const { rows } = await tx.query({
    name: 'carried_runs',
    text: `select run_id, through_offset::text from ${next}.carried
            where projection = $1 and run_id = any($2)`,
    values: [name, [...new Set(records.map(record => record.key))]],
  })
  const through = new Map(rows.map(row => [row.run_id, BigInt(row.through_offset)]))
  const isCarried = (record: Batch['records'][number]) =>
    record.offset < (through.get(record.key) ?? 0n)
  const carried = records.filter(isCarried)
  if (carried.length > 0)
    await tx.query({
      name: 'carry_dead_letters',
      text: `insert into ${next}.dead_letter
             select * from ${live}.dead_letter
              where topic = $1 and partition = $2 and "offset" = any($3::bigint[])
             on conflict do nothing`,
      values: [topic, partition, carried.map(record => String(record.offset))],
    })
  return { topic, partition, records: records.filter(record => !isCarried(record)) }
}
