import test from 'ava'
import { completeRound, refuseOtherTotal } from '../../command-api/validation/decide.ts'
import { validation } from '../../events/validation.ts'
import { Refusal } from '../../platform/refusal.ts'

const data = { run_id: 'run_a', step: 5, total_chunks: 3, avg_reward: 0.5, accuracy: null }

test('a round is completed once', t => {
  const event = { type: 'validation.round_completed', data } as const
  t.deepEqual(completeRound(validation.initial, data), [event])
  const occurred = { occurred_at: '2026-11-22T18:00:00Z' }
  const actor = { type: 'run', id: 'run_a', via: 'ingest_token' } as const
  const after = validation.evolve(validation.initial, { ...event, ...occurred, actor })
  t.deepEqual(completeRound(after, data), [])
})

test('a chunk with another number of chunks than its round is refused, with both numbers', t => {
  const refused = t.throws(() => refuseOtherTotal(data, 5), { instanceOf: Refusal })
  t.is(refused.code, 'conflict')
  t.regex(refused.message, /step 5 has total_chunks 5, this chunk says 3/)
  t.notThrows(() => refuseOtherTotal(data, 3))
})
