import type { Person } from '../../auth/caller.ts'
import type { TeamTables } from '../../projector/teams/table.ts'
import type { Reads } from '../reading/reads.ts'

/** The teams of the caller with their roles, by name. */
export const ownTeams = (reads: Reads<TeamTables>) => (caller: Person) =>
  reads
    .as(caller)
    .selectFrom('team_members')
    .select(['team as name', 'role'])
    .where('username', '=', caller.username)
    .orderBy('team')
    .execute()
