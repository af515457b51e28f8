import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import type { LogRecord, ReadRecord } from '../../platform/log/event-log.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { applyIsolated } from '../../projector/runner/poison.ts'
import { validationProjection } from '../../projector/validation/projection.ts'
import type { ValidationTables } from '../../projector/validation/table.ts'
import {
  countRounds,
  countSamples,
  readHistogram,
  readRounds,
  readSamples,
} from '../../query-api/validation/read.ts'
import { patient } from '../servers/patience.ts'
import { database } from '../servers/postgres.ts'
import { chunkOf } from './given.ts'

const topic = 'test.validation'
const run = 'run_a'
const page = { limit: 500, offset: 0 }
const bySent = { ...page, sort: { by: 'index', desc: false } } as const

/** Empty tables, and a log of one partition that is applied to them in batches. */
async function readModel(t: ExecutionContext) {
  const { pool, kysely: db } = await database<ValidationTables>(t, { schema: 'read' })
  const projection = validationProjection(topic)
  let end = 0n
  const apply = (given: readonly LogRecord[]) =>
    inTransaction(pool, async tx => {
      const records: ReadRecord[] = given.map(record => ({ ...record, offset: end++ }))
      await projection.apply(tx, [{ topic, partition: 0, records }])
    })
  return { pool, db, projection, apply }
}

const rewarded = (...rewards: (number | 'NaN' | null)[]) =>
  rewards.map((reward, n) => ({ user: `prompt ${n}`, assistant: `answer ${n}`, reward }))

test('a round is complete with its last chunk, and lists the missing ones until then', async t => {
  const { db, apply } = await readModel(t)
  const chunk = (chunk_index: number) => chunkOf(run, { step: 5, chunk_index, total_chunks: 4 })
  await apply([chunk(3), chunk(1)])
  const half = { received_chunks: 2, total_chunks: 4, complete: false, missing_chunks: [0, 2] }
  t.like((await readRounds(db, run, page))[0], half)
  await apply([chunk(1), chunk(0)])
  t.like((await readRounds(db, run, page))[0], { complete: false, missing_chunks: [2] })
  await apply([chunk(2)])
  t.like((await readRounds(db, run, page))[0], { complete: true, missing_chunks: [] })
  t.deepEqual(await readRounds(db, 'run_b', page), [])
})

test('a repeated chunk replaces the earlier one with all its samples, in one batch and across batches', async t => {
  const { pool, db, apply } = await readModel(t)
  const chunk = (chunk_index: number, ...rewards: number[]) =>
    chunkOf(run, { step: 5, chunk_index, total_chunks: 2, samples: rewarded(...rewards) })
  await apply([chunk(0, 1, 1, 1), chunk(0, 2, 2), chunk(1, 7)])
  t.deepEqual(
    (await readSamples(db, run, { step: 5 }, bySent)).map(one => one.reward),
    [2, 2, 7],
  )
  await apply([chunk(0, 3)])
  const samples = await readSamples(db, run, { step: 5 }, bySent)
  t.deepEqual(
    samples.map(one => [one.sample_id, one.reward]),
    [
      ['5-0-0', 3],
      ['5-1-0', 7],
    ],
  )
  t.like((await readRounds(db, run, page))[0], { samples: 2, reward: { min: 3, max: 7, mean: 5 } })
  const { rows } = await pool.query('select samples, first_offset from validation_runs')
  t.deepEqual(rows, [{ samples: 2, first_offset: 0 }])
})

test('the scores of a round come from its first chunk with scores, whatever the order of arrival', async t => {
  const { db, apply } = await readModel(t)
  const chunk = (step: number, chunk_index: number, avg_reward: number | null) =>
    chunkOf(run, { step, chunk_index, total_chunks: 3, avg_reward })
  await apply([chunk(1, 2, 0.3), chunk(1, 1, 0.2), chunk(1, 0, null)])
  await apply([chunk(2, 0, null), chunk(2, 1, 0.2), chunk(2, 2, 0.3)])
  const rounds = await readRounds(db, run, page)
  t.deepEqual(
    rounds.map(({ step, avg_reward, accuracy }) => [step, avg_reward, accuracy]),
    [
      [1, 0.2, null],
      [2, 0.2, null],
    ],
  )
})

test('samples are sorted by reward in pages, those without a reward last, and a prompt is followed through the steps', async t => {
  const { db, apply } = await readModel(t)
  const steps = [30, 10, 20]
  await apply(steps.map(step => chunkOf(run, { step, samples: rewarded(2, 'NaN', null, step, 1) })))
  const sorted = async (desc: boolean, limit = 500, offset = 0) => {
    const asked = { limit, offset, sort: { by: 'reward', desc } } as const
    return (await readSamples(db, run, { step: 10 }, asked)).map(one => one.reward)
  }
  t.deepEqual(await sorted(false), [1, 2, 10, 'NaN', null])
  t.deepEqual(await sorted(true), [10, 2, 1, 'NaN', null])
  t.deepEqual([...(await sorted(true, 2)), ...(await sorted(true, 2, 2))], [10, 2, 1, 'NaN'])
  const [, , , fourth] = await readSamples(db, run, { step: 10 }, bySent)
  const sample_key = fourth?.sample_key ?? ''
  t.regex(sample_key, /^p_[0-9a-f]{16}$/)
  const asked = { ...page, sort: { by: 'step', desc: false } } as const
  const prompt = await readSamples(db, run, { sample_key }, asked)
  t.deepEqual(
    prompt.map(({ step, user, reward }) => [step, user, reward]),
    [10, 20, 30].map(step => [step, 'prompt 3', step]),
  )
  t.is(await countSamples(db, run, { sample_key }), 3)
  t.is(await countRounds(db, run, null), 3)
  const second = await readRounds(db, run, { limit: 1, offset: 1 })
  t.deepEqual(
    second.map(({ step }) => step),
    [20],
  )
})

test('a page of very long samples ends before it is too large, and the next one continues there', async t => {
  const { db, apply } = await readModel(t)
  const long = { user: 'x'.repeat(200_000), assistant: 'y'.repeat(200_000), env: null }
  for (let step = 0; step < 3; step++)
    await apply([
      chunkOf(run, {
        step,
        samples: Array.from({ length: 20 }, () => ({ ...long, sample_key: 'k' })),
      }),
    ])
  const asked = { limit: 500, sort: { by: 'step', desc: false } } as const
  const first = await readSamples(db, run, { sample_key: 'k' }, { ...asked, offset: 0 })
  t.true(first.length > 20 && first.length < 60, `${first.length} samples`)
  const rest = await readSamples(db, run, { sample_key: 'k' }, { ...asked, offset: first.length })
  t.is(first.length + rest.length, 60)
})

test('the histogram counts every finite reward once, and says how many are not finite', async t => {
  const { db, apply } = await readModel(t)
  const far = Number.MAX_VALUE
  await apply([
    chunkOf(run, { step: 1, samples: rewarded(0, 0.1, 0.5, 1, 1, 'NaN', null) }),
    chunkOf(run, { step: 2, samples: rewarded(3, 3) }),
    chunkOf(run, { step: 3, samples: rewarded(null) }),
    chunkOf(run, { step: 4, samples: rewarded(-far, 0, far) }),
  ])
  const countsOf = async (step: number) => {
    const { bins, ...rest } = await readHistogram(db, run, { step, bins: 2 })
    return { ...rest, bins: bins.map(({ from, to, count }) => [from, to, count]) }
  }
  t.deepEqual(await countsOf(1), {
    ...{ step: 1, samples: 7, nonfinite: 1, without_reward: 1 },
    bins: [
      [0, 0.5, 2],
      [0.5, 1, 3],
    ],
  })
  t.deepEqual((await countsOf(2)).bins, [[3, 3, 2]])
  t.deepEqual(await countsOf(3), { step: 3, samples: 1, nonfinite: 0, without_reward: 1, bins: [] })
  t.deepEqual(
    (await countsOf(4)).bins.map(([, , count]) => count),
    [1, 2],
  )
})

test('a chunk with another total, or a malformed one, is parked, and the others stay', async t => {
  const { pool, db, projection } = await readModel(t)
  const given = [
    chunkOf(run, { step: 1, chunk_index: 0, total_chunks: 2 }),
    chunkOf(run, { step: 1, chunk_index: 1, total_chunks: 3 }),
    { key: run, value: Buffer.from('no fact') },
    chunkOf(run, { step: 1, chunk_index: 1, total_chunks: 2 }),
  ]
  const records = given.map((record, at) => ({ ...record, offset: BigInt(at) }))
  const parked: string[] = []
  await inTransaction(pool, tx =>
    applyIsolated(tx, projection, [{ topic, partition: 0, records }], one => parked.push(one)),
  )
  t.deepEqual(parked, [topic, topic])
  t.like((await readRounds(db, run, page))[0], { complete: true, total_chunks: 2 })
})

test('a parked record that is applied late does not replace a newer one', async t => {
  const { pool, db, projection } = await readModel(t)
  const record = (offset: bigint, reward: number): ReadRecord => ({
    ...chunkOf(run, { step: 1, samples: rewarded(reward) }),
    offset,
  })
  for (const records of [[record(7n, 2)], [record(3n, 1)]])
    await inTransaction(pool, tx => projection.applyParked(tx, { topic, partition: 0, records }))
  t.deepEqual(
    (await readSamples(db, run, { step: 1 }, bySent)).map(one => one.reward),
    [2],
  )
})

/** The chunks of a round, some of them several times, shuffled; and where the batches end. */
const delivery = (rounds: number) =>
  fc
    .array(fc.integer({ min: 1, max: 6 }), { minLength: rounds, maxLength: rounds })
    .chain(totals => {
      const chunks = totals.flatMap((total_chunks, step) =>
        Array.from({ length: total_chunks }, (_, chunk_index) => ({
          step,
          chunk_index,
          total_chunks,
        })),
      )
      return fc.record({
        totals: fc.constant(totals),
        repeated: fc.shuffledSubarray(chunks),
        order: fc.shuffledSubarray(chunks, { minLength: chunks.length }),
        repeatedFrom: fc.nat({ max: chunks.length }),
        batch: fc.integer({ min: 50, max: 900 }),
      })
    })

test('shuffled and repeated chunks over 1,000 rounds complete each round exactly when all of its chunks have arrived', async t => {
  t.timeout(patient(300_000))
  const { pool, db, apply } = await readModel(t)
  const completed = async () => {
    const { rows } = await pool.query(
      'select step from validation_chunks group by step having count(*) = min(total_chunks) order by step',
    )
    return rows.map(({ step }) => step)
  }
  await fc.assert(
    fc.asyncProperty(delivery(1000), async ({ totals, order, repeated, repeatedFrom, batch }) => {
      await pool.query('truncate validation_runs, validation_chunks, validation_samples')
      const all = order.toSpliced(repeatedFrom, 0, ...repeated)
      const seen = totals.map(() => new Set<number>())
      for (let from = 0; from < all.length; from += batch) {
        const chunks = all.slice(from, from + batch)
        await apply(chunks.map(chunk => chunkOf(run, { ...chunk, samples: rewarded(chunk.step) })))
        for (const { step, chunk_index } of chunks) seen[step]?.add(chunk_index)
        const expected = totals.flatMap((total, step) => (seen[step]?.size === total ? [step] : []))
        t.deepEqual(await completed(), expected)
      }
      const rounds = []
      for (const offset of [0, 500])
        rounds.push(...(await readRounds(db, run, { ...page, offset })))
      t.deepEqual(
        rounds.map(round => [round.step, round.samples, round.complete]),
        totals.map((total, step) => [step, total, true]),
      )
    }),
    { numRuns: 4 },
  )
})
