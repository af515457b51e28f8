import test from 'ava'
import fc from 'fast-check'
import { noteChunk, openRound } from '../../command-api/validation/rounds.ts'
import { eventStoreOn } from '../servers/event-store.ts'
import { patient } from '../servers/patience.ts'
import { database } from '../servers/postgres.ts'

const cause = {
  actor: { type: 'run', id: 'run_a', via: 'ingest_token' } as const,
  requestId: 'r',
}

test('one of several racing first reports of a round fixes its number of chunks', async t => {
  const { pool } = await database(t)
  const deps = { pool, store: eventStoreOn(pool), now: () => new Date() }
  for (let step = 0; step < 10; step++) {
    const totals = await Promise.all(
      [1, 2, 3, 4, 5].map(total_chunks => openRound(deps, { run_id: 'run_a', step, total_chunks })),
    )
    t.is(new Set(totals).size, 1)
  }
  const { rows } = await pool.query('select from write.validation_round')
  t.is(rows.length, 10)
})

test('chunks that are noted at once, shuffled and repeated, complete their round when all have arrived, with one event', async t => {
  t.timeout(patient(200_000))
  const { pool } = await database(t)
  const deps = { pool, store: eventStoreOn(pool), now: () => new Date() }
  let step = 0
  const deliveries = fc.integer({ min: 1, max: 20 }).chain(total =>
    fc.record({
      total: fc.constant(total),
      repeated: fc.array(fc.nat({ max: total - 1 }), { maxLength: 10 }),
      order: fc.shuffledSubarray([...Array(total).keys()], { minLength: total }),
      atOnce: fc.integer({ min: 1, max: 5 }),
    }),
  )
  await fc.assert(
    fc.asyncProperty(deliveries, async ({ total, repeated, order, atOnce }) => {
      step += 1
      const round = { run_id: 'run_a', step, total_chunks: total, avg_reward: 1, accuracy: null }
      t.is(await openRound(deps, round), total)
      const chunks = [...order.slice(0, -1), ...repeated, ...order.slice(-1)]
      const noted = new Set<number>()
      for (let from = 0; from < chunks.length; from += atOnce) {
        const together = chunks.slice(from, from + atOnce)
        const received = await Promise.all(
          together.map(chunk => noteChunk(deps, cause, round, chunk)),
        )
        for (const chunk of together) noted.add(chunk)
        t.is(Math.max(...received), noted.size)
      }
      const { rows } = await pool.query(
        `select count(*)::int as events from write.event where stream = 'validation-run_a/' || $1`,
        [step],
      )
      t.deepEqual(rows, [{ events: 1 }])
    }),
    { numRuns: 30 },
  )
})
