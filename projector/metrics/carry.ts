import { live, next } from '../generations.ts'
import type { CarryOver } from '../projection.ts'

const namesOfRuns = `
  insert into ${next}.metric_name
  select n.* from ${live}.metric_name n
   where n.key_no in (select key_no from ${next}.metric_latest where run_no = any($1)
                      union select key_no from ${next}.metric_settled where run_no = any($1))
  on conflict do nothing`

/**
 * While a run is locked against the compactor, its chunks do not change and blocks are only added. The carried
 * record count includes exactly the blocks numbered below it.
 */
export const metricsCarryOver: CarryOver = {
  runs: 'metric_run',
  id: 'run_no',
  weight: `(select count(*) from ${live}.metric_latest l where l.run_no = r.run_no)
           + (select count(*) from ${live}.metric_settled s where s.run_no = r.run_no)`,
  lockedIn: 'metric_run',
  heads: [
    `insert into ${next}.metric_latest select * from ${live}.metric_latest where run_no = any($1)`,
    `insert into ${next}.metric_settled select * from ${live}.metric_settled where run_no = any($1)`,
    `insert into ${next}.metric_keys select * from ${live}.metric_keys where run_no = any($1)`,
    namesOfRuns,
  ],
  rest: [
    { table: 'metric_chunk', key: ['run_no', 'key_no', 'first_step'], where: 'true' },
    {
      table: 'metric_block',
      key: ['run_no', 'first_record'],
      where: `t.first_record < (select r.records from ${next}.metric_run r where r.run_no = t.run_no)`,
    },
  ],
  forget: [],
}
