import type { Pool } from 'pg'
import type { TeamDetail } from '../../schemas/teams.ts'

/**
 * What the jobs of a team hold, as the queue counts it. Read from the write side, because members may not read every job that counts
 * in the pool.
 */
export async function readUse(pool: Pool, team: string, now: Date): Promise<TeamDetail['use']> {
  const { rows } = await pool.query<{ gpus: number; jobs: number; hours: number }>({
    name: 'use_of_team',
    text: `select t.held_gpus as gpus, t.held_jobs as jobs, (
             select coalesce(sum(u.gpus * extract(epoch from
                      coalesce(u.ended_at, $2::timestamptz) - greatest(u.started_at, date_trunc('day', $2::timestamptz, 'UTC')))), 0)::float8 / 3600
               from write.gpu_use u
              where u.team = t.name and (u.ended_at is null or u.ended_at > date_trunc('day', $2::timestamptz, 'UTC'))) as hours
             from write.team t where t.name = $1`,
    values: [team, now],
  })
  const { gpus = 0, jobs = 0, hours = 0 } = rows[0] ?? {}
  return { concurrent_gpus: gpus, concurrent_jobs: jobs, gpu_hours_today: hours.toFixed(1) }
}
