import { live, next } from '../generations.ts'
import type { CarryOver } from '../projection.ts'

/** Sums are copied from one snapshot with the partitions that the rows need; rows never change. */
export const trafficCarryOver: CarryOver = {
  runs: 'traffic_deployments',
  id: 'run_id',
  weight: `(select count(*) from ${live}.traffic_daily s where s.deployment_id = r.run_id)`,
  lockedIn: null,
  heads: [
    `select ${next}.traffic_partition('${next}', day)
       from (select distinct day from ${live}.traffic where deployment_id = any($1)) days`,
    `insert into ${next}.traffic_daily select * from ${live}.traffic_daily where deployment_id = any($1)`,
  ],
  rest: [
    {
      table: 'traffic',
      key: ['deployment_id', 'day', 'request_id'],
      // The first rows of a day may arrive after the partitions were made. They are still on the log, and are
      // replayed.
      where: `to_regclass('${next}.traffic_' || to_char(t.day, 'YYYYMMDD')) is not null`,
    },
  ],
  forget: [],
}
