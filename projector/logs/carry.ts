import { live, next } from '../generations.ts'
import type { CarryOver } from '../projection.ts'

/** Only the last row of a run's lines is ever rewritten; it is copied with the run, all other rows in ranges. */
export const logsCarryOver: CarryOver = {
  runs: 'log_runs',
  id: 'run_id',
  weight: `(select count(*) from ${live}.log_sources s where s.run_id = r.run_id)`,
  lockedIn: null,
  heads: [
    `insert into ${next}.log_sources select * from ${live}.log_sources where run_id = any($1)`,
    `insert into ${next}.log_chunks
     select c.* from ${live}.log_chunks c join ${next}.log_runs r using (run_id)
      where c.run_id = any($1) and c.first_seq >= r.tail_seq`,
  ],
  rest: [
    {
      table: 'log_chunks',
      key: ['run_id', 'first_seq'],
      where: `t.first_seq < (select r.tail_seq from ${next}.log_runs r where r.run_id = t.run_id)`,
    },
  ],
  forget: [
    `update ${live}.log_runs set points_partition = null, points_offset = null where points_offset is not null`,
  ],
}
