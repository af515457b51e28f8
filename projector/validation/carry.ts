import { live, next } from '../generations.ts'
import type { CarryOver } from '../projection.ts'

/**
 * Chunks may be replaced at any time and are copied with the run; their samples never change and follow in ranges.
 */
export const validationCarryOver: CarryOver = {
  runs: 'validation_runs',
  id: 'run_id',
  weight: `(select count(*) from ${live}.validation_chunks c where c.run_id = r.run_id)`,
  lockedIn: null,
  heads: [
    `insert into ${next}.validation_chunks select * from ${live}.validation_chunks where run_id = any($1)`,
  ],
  rest: [
    {
      table: 'validation_samples',
      key: ['run_id', 'log_offset', 'index'],
      // The samples of a chunk replaced meanwhile arrive with the record that replaced it.
      where: `exists (select from ${next}.validation_chunks c
                       where c.run_id = t.run_id and c.log_offset = t.log_offset)`,
    },
  ],
  // All below those of the other log, and of rows before it, in the same order.
  forget: [
    `with shift as (select max(log_offset) - least(min(log_offset), 0) + 1 as by from ${live}.validation_chunks),
          chunks as (update ${live}.validation_chunks set log_offset = log_offset - shift.by from shift)
     update ${live}.validation_samples set log_offset = log_offset - shift.by from shift`,
  ],
}
