import type { PoolClient } from 'pg'
import { decodeFact } from '../../events/fact.ts'
import type { Batch } from '../../platform/log/event-log.ts'
import { forgetIn, forgetting } from '../forgetting.ts'
import type { TopicProjection } from '../projection.ts'
import { validationCarryOver } from './carry.ts'
import { type Chunk, rewardsOf, toChunk } from './chunk.ts'

/** Maximum size of a flush, in characters of all samples; bounds the memory of an unpacked batch. */
const togetherLength = 4 * 1024 * 1024

/**
 * Validation rounds with their samples. If a chunk is reported several times, the highest offset wins, so the order
 * of application does not matter.
 */
export const validationProjection = (topic: string): TopicProjection =>
  forgetting(
    {
      name: 'validation',
      topic,
      onPoison: 'park',
      carryOver: validationCarryOver,
      reset() {},
      apply,
      applyParked: (tx, batch) => apply(tx, [batch]),
      async fillIn() {},
    },
    forgetIn('validation_samples', 'validation_chunks', 'validation_runs'),
  )

async function apply(tx: PoolClient, batches: readonly Batch[]): Promise<void> {
  let flush = emptyFlush()
  for (const { records } of batches)
    for (const { value, offset } of records) {
      add(flush, toChunk(decodeFact(value), offset))
      if (flush.length > togetherLength) {
        await saveFlush(tx, flush)
        flush = emptyFlush()
      }
    }
  if (flush.chunks.size > 0) await saveFlush(tx, flush)
}

/**
 * The content of a flush: the newest report of each chunk. `totals` by round and `firstOffsets` by run cover all
 * reports, so that the tables do not depend on where a flush ends.
 */
type Flush = {
  chunks: Map<string, Chunk>
  totals: Map<string, number>
  firstOffsets: Map<string, bigint>
  /** Size in characters of the samples. */
  length: number
}

const emptyFlush = (): Flush => ({
  chunks: new Map(),
  totals: new Map(),
  firstOffsets: new Map(),
  length: 0,
})

function add(flush: Flush, chunk: Chunk): void {
  const { run_id, step, total_chunks, log_offset } = chunk
  const round = `${run_id}/${step}`
  const known = flush.totals.get(round) ?? total_chunks
  if (known !== total_chunks) throw otherTotal(round, known, total_chunks)
  flush.totals.set(round, known)
  if (!flush.firstOffsets.has(run_id)) flush.firstOffsets.set(run_id, log_offset)
  flush.chunks.set(nameOfChunk(chunk), chunk)
  flush.length += chunk.samples.reduce((sum, { bytes }) => sum + bytes, 0)
}

type Named = Pick<Chunk, 'run_id' | 'step' | 'chunk_index'>
const nameOfChunk = ({ run_id, step, chunk_index }: Named) => `${run_id}/${step}/${chunk_index}`

async function saveFlush(tx: PoolClient, { chunks, firstOffsets }: Flush): Promise<void> {
  const given = [...chunks.values()]
  await refuseOtherTotals(tx, given)
  const earlier = await findEarlier(tx, given)
  const fresh = given.filter(chunk => {
    const known = earlier.get(nameOfChunk(chunk))
    return known === undefined || BigInt(known.log_offset) < chunk.log_offset
  })
  const replaced = fresh.flatMap(chunk => earlier.get(nameOfChunk(chunk)) ?? [])
  if (replaced.length > 0) await deleteSamples(tx, replaced)
  await insertChunks(tx, fresh)
  await insertSamples(tx, fresh)
  await countSamples(tx, firstOffsets, { fresh, replaced })
}

/**
 * The write side refuses a second, different number of chunks for a round; only a write side that lost its own tables
 * could accept it. The record is then parked.
 */
async function refuseOtherTotals(tx: PoolClient, chunks: readonly Chunk[]): Promise<void> {
  const { rows } = await tx.query({
    name: 'find_other_validation_totals',
    text: `select c.run_id, c.step, c.total_chunks, g.total_chunks as given
             from (select distinct run_id, step, total_chunks
                     from unnest($1::text[], $2::int8[], $3::int4[]) u (run_id, step, total_chunks)) g
             cross join lateral (select * from validation_chunks c
                                  where c.run_id = g.run_id and c.step = g.step limit 1) c
            where c.total_chunks <> g.total_chunks limit 1`,
    values: columns(chunks, 'run_id', 'step', 'total_chunks'),
  })
  const [other] = rows
  if (other) throw otherTotal(`${other.run_id}/${other.step}`, other.total_chunks, other.given)
}

const otherTotal = (round: string, known: number, given: number) =>
  new Error(`the round ${round} has ${known} chunks, this record says ${given}`)

type Earlier = Named & { log_offset: number; samples: number }

async function findEarlier(
  tx: PoolClient,
  chunks: readonly Chunk[],
): Promise<Map<string, Earlier>> {
  const { rows } = await tx.query<Earlier>({
    name: 'find_validation_chunks',
    text: `select run_id, step, chunk_index, c.log_offset, c.samples
             from validation_chunks c
             join unnest($1::text[], $2::int8[], $3::int4[]) g (run_id, step, chunk_index)
               using (run_id, step, chunk_index)`,
    values: columns(chunks, 'run_id', 'step', 'chunk_index'),
  })
  return new Map(rows.map(row => [nameOfChunk(row), row]))
}

const deleteSamples = (tx: PoolClient, replaced: readonly Earlier[]) =>
  tx.query({
    name: 'delete_validation_samples',
    text: `delete from validation_samples s using unnest($1::text[], $2::int8[]) g (run_id, log_offset)
            where s.run_id = g.run_id and s.log_offset = g.log_offset`,
    values: columns(replaced, 'run_id', 'log_offset'),
  })

const insertChunks = (tx: PoolClient, chunks: readonly Chunk[]) =>
  tx.query({
    name: 'save_validation_chunks',
    text: `insert into validation_chunks
             (run_id, step, chunk_index, total_chunks, log_offset, avg_reward, accuracy, received_at, samples,
              rewards, reward_sum, reward_min, reward_max)
           select * from unnest($1::text[], $2::int8[], $3::int4[], $4::int4[], $5::int8[], $6::float8[],
                                $7::float8[], $8::timestamptz[], $9::int4[],
                                $10::int4[], $11::float8[], $12::float8[], $13::float8[])
           on conflict (run_id, step, chunk_index) do update set
             log_offset = excluded.log_offset, avg_reward = excluded.avg_reward,
             accuracy = excluded.accuracy, received_at = excluded.received_at, samples = excluded.samples,
             rewards = excluded.rewards, reward_sum = excluded.reward_sum,
             reward_min = excluded.reward_min, reward_max = excluded.reward_max`,
    values: columns(
      chunks.map(({ samples, ...chunk }) => ({
        ...chunk,
        ...rewardsOf(samples),
        samples: samples.length,
      })),
      ...(['run_id', 'step', 'chunk_index', 'total_chunks', 'log_offset', 'avg_reward'] as const),
      ...(['accuracy', 'received_at', 'samples'] as const),
      ...(['rewards', 'reward_sum', 'reward_min', 'reward_max'] as const),
    ),
  })

const insertSamples = (tx: PoolClient, chunks: readonly Chunk[]) =>
  tx.query({
    name: 'save_validation_samples',
    text: `insert into validation_samples
             (run_id, log_offset, index, step, chunk_index, sample_key, reward, bytes, "user", assistant, env, extra)
           select * from unnest($1::text[], $2::int8[], $3::int4[], $4::int8[], $5::int4[], $6::text[], $7::float8[],
                                $8::int4[], $9::text[], $10::text[], $11::json[], $12::json[])`,
    values: columns(
      chunks.flatMap(({ samples, ...chunk }) =>
        samples.map((sample, index) => ({ ...chunk, ...sample, index })),
      ),
      ...(['run_id', 'log_offset', 'index', 'step', 'chunk_index', 'sample_key'] as const),
      ...(['reward', 'bytes', 'user', 'assistant', 'env', 'extra'] as const),
    ),
  })

async function countSamples(
  tx: PoolClient,
  firstOffsets: Flush['firstOffsets'],
  { fresh, replaced }: { fresh: readonly Chunk[]; replaced: readonly Earlier[] },
): Promise<void> {
  const runs = new Map(
    [...firstOffsets].map(([run_id, first_offset]) => [
      run_id,
      { run_id, samples: 0, first_offset },
    ]),
  )
  const count = (run_id: string, samples: number) => {
    const run = runs.get(run_id)
    if (run) run.samples += samples
  }
  for (const { run_id, samples } of fresh) count(run_id, samples.length)
  for (const { run_id, samples } of replaced) count(run_id, -samples)
  await tx.query({
    name: 'count_validation_samples',
    text: `insert into validation_runs (run_id, samples, first_offset)
           select * from unnest($1::text[], $2::int8[], $3::int8[])
           on conflict (run_id) do update set
             samples = validation_runs.samples + excluded.samples,
             first_offset = least(validation_runs.first_offset, excluded.first_offset)`,
    values: columns([...runs.values()], 'run_id', 'samples', 'first_offset'),
  })
}

/** One array per column. */
const columns = <R, C extends keyof R>(rows: readonly R[], ...names: readonly C[]) =>
  names.map(name => rows.map(row => row[name]))
