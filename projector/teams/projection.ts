import { sql } from 'kysely'
import type { TeamEvent } from '../../events/teams.ts'
import type { Handlers } from '../projection.ts'
import type { TeamTables } from './table.ts'

export const teamProjection: Handlers<TeamTables, TeamEvent> = {
  async 'team.created'(tx, { data: { name, owner, description }, occurred_at }) {
    await tx.insertInto('teams').values({ name, description, created_at: occurred_at }).execute()
    await tx
      .insertInto('team_members')
      .values({ team: name, username: owner, role: 'owner', source: 'person', since: occurred_at })
      .execute()
  },
  'team.changed': (tx, { data: { name, description } }) =>
    tx.updateTable('teams').set({ description }).where('name', '=', name).execute(),
  'team.pool_set': (tx, { data: { name, ...pool } }) =>
    tx.updateTable('teams').set(pool).where('name', '=', name).execute(),
  'team.member_set': (tx, { data: { name, username, role, source }, occurred_at }) =>
    tx
      .insertInto('team_members')
      .values({ team: name, username, role, source, since: occurred_at })
      .onConflict(on => on.columns(['team', 'username']).doUpdateSet({ role, source }))
      .execute(),
  'team.member_removed': (tx, { data: { name, username } }) =>
    tx
      .deleteFrom('team_members')
      .where('team', '=', name)
      .where('username', '=', username)
      .execute(),
  'team.group_set': (tx, { data: { name, group, role } }) =>
    sql`update teams set groups = groups || jsonb_build_object(${group}::text, ${role}::text)
         where name = ${name}`.execute(tx),
  'team.group_removed': (tx, { data: { name, group } }) =>
    sql`update teams set groups = groups - ${group}::text where name = ${name}`.execute(tx),
  async 'team.deleted'(tx, { data: { name } }) {
    await tx.deleteFrom('team_members').where('team', '=', name).execute()
    await tx.deleteFrom('teams').where('name', '=', name).execute()
  },
}
