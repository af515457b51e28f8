import type { Team, TeamEvent } from '../../events/teams.ts'
import type { Decided } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'

/** Updates the rows from which other commands decide who may do what, and which jobs fit the pool. */
export async function saveTeam(
  tx: Transaction,
  { events, now }: Pick<Decided<Team, TeamEvent>, 'events' | 'now'>,
): Promise<void> {
  for (const event of events) await saveEvent(tx, event, now)
}

async function saveEvent(tx: Transaction, event: TeamEvent, now: Date): Promise<void> {
  switch (event.type) {
    case 'team.created': {
      const { name, owner } = event.data
      await tx.query('insert into write.team (name) values ($1)', [name])
      await saveMember(tx, { name, username: owner, role: 'owner' })
      return
    }
    case 'team.changed':
      return
    case 'team.pool_set': {
      const { name, max_concurrent_gpus, max_concurrent_jobs, daily_gpu_hours } = event.data
      await tx.query(
        `update write.team set max_concurrent_gpus = $2, max_concurrent_jobs = $3, daily_gpu_hours = $4
          where name = $1`,
        [name, max_concurrent_gpus, max_concurrent_jobs, daily_gpu_hours],
      )
      return
    }
    case 'team.member_set':
      return saveMember(tx, event.data)
    case 'team.member_removed': {
      const { name, username } = event.data
      await tx.query('delete from write.team_member where team = $1 and username = $2', [
        name,
        username,
      ])
      return
    }
    case 'team.group_set':
    case 'team.group_removed':
      return saveGroup(tx, event)
    case 'team.deleted': {
      const { name } = event.data
      await tx.query('update write.team set deleted_at = $2 where name = $1', [name, now])
      await tx.query('delete from write.team_member where team = $1', [name])
      await tx.query('delete from write.team_group where team = $1', [name])
      return
    }
  }
}

type Member = { name: string; username: string; role: string }

async function saveMember(tx: Transaction, { name, username, role }: Member): Promise<void> {
  await tx.query(
    `insert into write.team_member (team, username, role) values ($1, $2, $3)
     on conflict (team, username) do update set role = excluded.role`,
    [name, username, role],
  )
}

type GroupEvent = Extract<TeamEvent, { type: 'team.group_set' | 'team.group_removed' }>

async function saveGroup(tx: Transaction, { type, data }: GroupEvent): Promise<void> {
  if (type === 'team.group_removed')
    await tx.query('delete from write.team_group where team = $1 and group_name = $2', [
      data.name,
      data.group,
    ])
  else
    await tx.query(
      `insert into write.team_group (team, group_name, role) values ($1, $2, $3)
       on conflict (team, group_name) do update set role = excluded.role`,
      [data.name, data.group, data.role],
    )
}
