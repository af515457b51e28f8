import { live, next } from '../generations.ts'
import type { CarryOver } from '../projection.ts'

/** A point that is replaced meanwhile may be copied in its new form: replaying its record then changes nothing. */
export const hardwareCarryOver: CarryOver = {
  runs: 'hardware_runs',
  id: 'run_id',
  weight: `(select count(*) from ${live}.hardware_sources s where s.run_id = r.run_id)`,
  lockedIn: null,
  heads: [
    `insert into ${next}.hardware_sources select * from ${live}.hardware_sources where run_id = any($1)`,
  ],
  rest: ['hardware_points', 'hardware_means'].map(table => ({
    ...{ table, key: ['run_id', 'source', 'ts'], where: 'true' },
  })),
  forget: [],
}
