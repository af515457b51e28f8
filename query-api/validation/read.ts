import { type Kysely, sql } from 'kysely'
import { toJsonNumber } from '../../platform/series/json-number.ts'
import type { ValidationTables } from '../../projector/validation/table.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import type {
  RewardHistogram,
  ValidationRound,
  ValidationSample,
} from '../../schemas/validation.ts'
import { maxExactCount } from '../reading/page.ts'

type Db = Kysely<ValidationTables>
type Page = { limit: number; offset: number }

/** How many missing chunks are listed. */
const listedMissing = 100

type RoundRow = Omit<
  ValidationRound,
  'complete' | 'avg_reward' | 'accuracy' | 'reward' | 'received_at'
> & {
  avg_reward: number | null
  accuracy: number | null
  rewards: number
  reward_sum: number
  reward_min: number | null
  reward_max: number | null
  received_at: Date
}

/** Rounds ordered by step; only the round at `step` if given. The scores come from the first chunk that has any. */
export async function readRounds(
  db: Db,
  runId: string,
  { limit, offset, step = null }: Page & { step?: number | null },
): Promise<ValidationRound[]> {
  const { rows } = await sql<RoundRow>`
    select c.step, min(c.total_chunks) as total_chunks, count(*)::int as received_chunks,
           sum(c.samples)::int8 as samples, sum(c.rewards)::int8 as rewards,
           sum(c.reward_sum order by c.chunk_index) as reward_sum,
           min(c.reward_min) as reward_min, max(c.reward_max) as reward_max,
           (array_agg(c.avg_reward order by c.chunk_index) filter (where c.avg_reward is not null))[1] as avg_reward,
           (array_agg(c.accuracy order by c.chunk_index) filter (where c.accuracy is not null))[1] as accuracy,
           max(c.received_at) as received_at,
           case when count(*) = min(c.total_chunks) then '{}' else array(
             select n from generate_series(0, min(c.total_chunks) - 1) n
              where not exists (select from validation_chunks o
                                 where o.run_id = ${runId} and o.step = c.step and o.chunk_index = n)
              order by n limit ${listedMissing}) end as missing_chunks
      from validation_chunks c
     where c.run_id = ${runId} and (${step}::int8 is null or c.step = ${step})
     group by c.step order by c.step limit ${limit} offset ${offset}`.execute(db)
  return rows.map(toRound)
}

const toRound = ({ rewards, reward_sum, reward_min, reward_max, ...row }: RoundRow) => ({
  ...row,
  complete: row.received_chunks === row.total_chunks,
  avg_reward: row.avg_reward === null ? null : toJsonNumber(row.avg_reward),
  accuracy: row.accuracy === null ? null : toJsonNumber(row.accuracy),
  reward: {
    min: reward_min,
    max: reward_max,
    mean: rewards === 0 ? null : reward_sum / rewards,
  },
  received_at: toTimestamp(row.received_at),
})

export async function countRounds(db: Db, runId: string, step: number | null): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      select distinct step from validation_chunks
       where run_id = ${runId} and (${step}::int8 is null or step = ${step})
       limit ${maxExactCount + 1}) found`.execute(db)
  return rows[0]?.count ?? 0
}

/** Selects samples of a run, by round or by prompt; `{}`: all of them. */
export type Which = { step: number } | { sample_key: string } | Record<string, never>
export type SampleOrder = { by: 'index' | 'reward' | 'step'; desc: boolean }

/** A page ends before its samples exceed this many characters, but always has at least one. */
const pageLength = 16 * 1024 * 1024

/** A total order: samples without a reward come last, samples with equal rewards in the order sent. */
export async function readSamples(
  db: Db,
  runId: string,
  which: Which,
  { limit, offset, sort: { by, desc } }: Page & { sort: SampleOrder },
): Promise<ValidationSample[]> {
  const direction = sql.raw(desc ? 'desc' : 'asc')
  const order =
    by === 'reward'
      ? sql`reward = 'NaN' nulls last, reward ${direction} nulls last, step, chunk_index, index`
      : sql`step ${direction}, chunk_index ${direction}, index ${direction}`
  const { rows } = await sql<SampleRow>`
    with page as materialized (
           select log_offset, index, bytes, row_number() over (order by ${order}) as place
             from validation_samples where ${filterOf(runId, which)}
            order by ${order} limit ${limit} offset ${offset}),
         fitting as (
           select *, sum(bytes) over (order by place) - bytes as before from page)
    select s.* from fitting f join validation_samples s
        on s.run_id = ${runId} and s.log_offset = f.log_offset and s.index = f.index
     where f.before = 0 or f.before + f.bytes <= ${pageLength} order by f.place`.execute(db)
  return rows.map(toSample)
}

const filterOf = (runId: string, which: Which) => {
  if ('step' in which) return sql`run_id = ${runId} and step = ${which.step}`
  if ('sample_key' in which) return sql`run_id = ${runId} and sample_key = ${which.sample_key}`
  return sql`run_id = ${runId}`
}

type SampleRow = ValidationTables['validation_samples']

const toSample = ({ step, chunk_index, index, reward, ...row }: SampleRow): ValidationSample => ({
  sample_id: `${step}-${chunk_index}-${index}`,
  sample_key: row.sample_key,
  step,
  chunk_index,
  index,
  user: row.user,
  assistant: row.assistant,
  env: row.env,
  reward: reward === null ? null : toJsonNumber(reward),
  extra: row.extra,
})

export async function countSamples(db: Db, runId: string, which: Which): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      select from validation_samples where ${filterOf(runId, which)}
       limit ${maxExactCount + 1}) found`.execute(db)
  return rows[0]?.count ?? 0
}

/** Histogram of a round's rewards; no bins if no reward is finite. */
export async function readHistogram(
  db: Db,
  runId: string,
  { step, bins }: { step: number; bins: number },
): Promise<RewardHistogram> {
  const { rows } = await sql<Counted>`
    with given as (select reward, reward is not null and reward <> 'NaN' and abs(reward) < 'Infinity' as is_finite
                     from validation_samples where run_id = ${runId} and step = ${step}),
         span as (select min(reward) filter (where is_finite) as low, max(reward) filter (where is_finite) as high
                    from given)
    select case when not is_finite then null
                when low = high then 0
                -- Halves, because a span may exceed every double.
                else least(${bins}::int - 1, floor(((reward / 2 - low / 2) / (high / 2 - low / 2)) * ${bins}::int))::int end as bin,
           reward is null as is_missing, low, high, count(*)::int as count
      from given cross join span group by 1, 2, 3, 4`.execute(db)
  const [{ low, high } = { low: null, high: null }] = rows
  const total = (matching: (row: Counted) => boolean) =>
    rows.reduce((sum, row) => sum + (matching(row) ? row.count : 0), 0)
  return {
    step,
    samples: total(() => true),
    nonfinite: total(row => row.bin === null && !row.is_missing),
    without_reward: total(row => row.is_missing),
    bins:
      low === null || high === null
        ? []
        : edgesOf(low, high, bins).map(([from, to], bin) => ({
            from,
            to,
            count: total(row => row.bin === bin),
          })),
  }
}

type Counted = {
  bin: number | null
  is_missing: boolean
  low: number | null
  high: number | null
  count: number
}

/** A single bin if all rewards are equal. */
function edgesOf(low: number, high: number, bins: number): [from: number, to: number][] {
  if (low === high) return [[low, high]]
  const edge = (nth: number) => low * (1 - nth / bins) + high * (nth / bins)
  return Array.from({ length: bins }, (_, nth) => [edge(nth), edge(nth + 1)])
}
