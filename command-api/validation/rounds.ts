import { type RoundCompleted, roundAt } from '../../events/validation.ts'
import type { Asked } from '../commit/asked.ts'
import { transact } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { completeRound, maxRounds, tooManyRounds } from './decide.ts'

type RoundDeps = Pick<Deps, 'pool' | 'store' | 'now'>
type Round = { run_id: string; step: number; total_chunks: number }

/** The number of chunks of this round: the one given here if it is the round's first report. */
export async function openRound(deps: RoundDeps, round: Round): Promise<number> {
  const known = await totalOf(deps, round)
  if (known !== null) return known
  await deps.pool.query({
    name: 'open_validation_round',
    text: `insert into write.validation_round (run_id, step, total_chunks, received)
           select $1, $2, $3, decode(repeat('00', ($3::int + 7) / 8), 'hex')
            where (select count(*) from (select from write.validation_round where run_id = $1 limit $4) r) < $4
           on conflict do nothing`,
    values: [round.run_id, round.step, round.total_chunks, maxRounds],
  })
  // Another report may have been first.
  const opened = await totalOf(deps, round)
  if (opened === null) throw tooManyRounds()
  return opened
}

async function totalOf({ pool }: RoundDeps, { run_id, step }: Round): Promise<number | null> {
  const { rows } = await pool.query<{ total_chunks: number }>({
    name: 'find_validation_round',
    text: 'select total_chunks from write.validation_round where run_id = $1 and step = $2',
    values: [run_id, step],
  })
  return rows[0]?.total_chunks ?? null
}

/**
 * Records that a chunk is on the log, and returns how many of its round are. Called after the log's acknowledgement, so
 * that a round is never called complete while a chunk is missing; a crash in between makes the caller send it again.
 */
export async function noteChunk(
  deps: RoundDeps,
  asked: Asked,
  round: RoundCompleted,
  chunk_index: number,
): Promise<number> {
  const stream = roundAt(round.run_id, round.step)
  const { result } = await transact(deps, asked, {
    target: stream,
    locks: [],
    async make({ tx, decide }) {
      const { rows } = await tx.query<{ received: number }>(
        `update write.validation_round set received = set_bit(received, $3, 1)
          where run_id = $1 and step = $2 returning bit_count(received)::int as received`,
        [round.run_id, round.step, chunk_index],
      )
      const received = rows[0]?.received ?? 0
      if (received === round.total_chunks)
        await decide(stream, { decide: known => completeRound(known, round) })
      return received
    },
  })
  return result
}

/** Called when the run is purged. */
export const deleteRoundsOf = (tx: Transaction, run_id: string) =>
  tx.query('delete from write.validation_round where run_id = $1', [run_id])
