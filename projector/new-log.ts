import type { PoolClient } from 'pg'
import { live } from './generations.ts'
import type { TopicProjection } from './projection.ts'

/** Rows that are still to be filled in stay so. */
const fromTheBeginning = 'next_offset = 0, filled_to = case when filled_to = next_offset then 0 end'

/**
 * Lets the projections of facts read on at the beginning of another log. Their rows stay: no run of before is on that log, so
 * rebuilds carry all of them over. Parked records were on the earlier log alone; returns how many are given up.
 */
export async function beginNewLog(
  tx: PoolClient,
  projections: readonly TopicProjection[],
): Promise<number> {
  for (const { carryOver } of projections) {
    if (carryOver === null) continue
    await tx.query(`update ${live}.${carryOver.runs} set first_offset = -1`)
    for (const sql of carryOver.forget) await tx.query(sql)
  }
  await tx.query(`update ${live}.projection_checkpoint set ${fromTheBeginning}`)
  const { rowCount } = await tx.query(`delete from ${live}.dead_letter`)
  return rowCount ?? 0
}

/** Lets the projections of decisions read them again; applied events are recognised by their ids. */
export const readAgain = (tx: PoolClient, topic: string) =>
  tx.query(`update ${live}.projection_checkpoint set ${fromTheBeginning} where topic = $1`, [topic])
