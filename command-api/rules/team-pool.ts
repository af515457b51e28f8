import type { Transaction } from '../commit/event-store.ts'

/** SQL: whether the pool of team `t` has no room for this many further GPUs in one further job; each argument is SQL. */
const isFull = ({ gpus, now }: Record<'gpus' | 'now', string>) => {
  const today = `date_trunc('day', ${now}::timestamptz, 'UTC')`
  return `(t.held_gpus + ${gpus} > coalesce(t.max_concurrent_gpus, 2147483647)
    or t.held_jobs + 1 > coalesce(t.max_concurrent_jobs, 2147483647)
    or (${gpus} > 0 and coalesce(t.daily_gpu_hours <= (
      select coalesce(sum(u.gpus * extract(epoch from
               coalesce(u.ended_at, ${now}::timestamptz) - greatest(u.started_at, ${today}))), 0) / 3600
        from write.gpu_use u
       where u.team = t.name and (u.ended_at is null or u.ended_at > ${today})), false)))`
}

/** SQL: whether the pool of a team has no room for a job; false without a team; each argument is SQL. */
export const isOverPool = ({ team, ...of }: Record<'team' | 'gpus' | 'now', string>) =>
  `exists (select from write.team t where t.name = ${team} and ${isFull(of)})`

/**
 * Reserves a job's share of the pool of its team, or nothing. One conditional UPDATE decides, as for the quota of a person: the row
 * lock serializes racing jobs.
 */
export async function takePool(
  tx: Transaction,
  { team, gpus, now }: { team: string; gpus: number; now: Date },
): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'take_pool',
    text: `update write.team t set held_gpus = held_gpus + $2, held_jobs = held_jobs + 1
            where name = $1 and not ${isFull({ gpus: '$2::int', now: '$3' })}`,
    values: [team, gpus, now],
  })
  return rowCount === 1
}

export async function releasePool(
  tx: Transaction,
  { team, gpus }: { team: string; gpus: number },
): Promise<void> {
  await tx.query({
    name: 'release_pool',
    text: 'update write.team set held_gpus = held_gpus - $2, held_jobs = held_jobs - 1 where name = $1',
    values: [team, gpus],
  })
}

/** SQL: the team of that name, or else of that project, with the role of a person in it (`TeamOfJob` of admission); each argument is SQL. */
export const teamOfJob = ({
  team,
  project,
  username,
}: Record<'team' | 'project' | 'username', string>) =>
  `(select jsonb_build_object('name', t.name,
            'role', (select role from write.team_member m where m.team = t.name and m.username = ${username}),
            'pool', jsonb_build_object('max_concurrent_gpus', t.max_concurrent_gpus,
                      'max_concurrent_jobs', t.max_concurrent_jobs, 'daily_gpu_hours', t.daily_gpu_hours))
      from write.team t
     where t.deleted_at is null
       and t.name = coalesce(${team}, (select team from write.project where name = ${project})))`

/** SQL: the team that owns a project. */
export const teamOfProject = (project: string) =>
  `(select team from write.project where name = ${project})`
