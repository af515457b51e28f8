import type { Pool } from 'pg'
import { Refusal } from '../../platform/refusal.ts'
import type { TeamRole } from '../../schemas/teams.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Asking } from './access.ts'
import { holdResource } from './hold-resource.ts'

type Db = Pool | Transaction

/** The role of a person in a team; null: they are no member, or there is no such team. */
export async function roleInTeam(db: Db, team: string, username: string): Promise<TeamRole | null> {
  const { rows } = await db.query<{ role: TeamRole }>({
    name: 'role_in_team',
    text: 'select role from write.team_member where team = $1 and username = $2',
    values: [team, username],
  })
  return rows[0]?.role ?? null
}

/** SQL: the role of a person in the team that owns a project, as a role in the project; each argument is SQL. */
export const teamRoleIn = ({ project, username }: Record<'project' | 'username', string>) =>
  `(select case m.role when 'owner' then 'maintainer' else m.role end
      from write.project t join write.team_member m on m.team = t.team
     where t.name = ${project} and m.username = ${username})`

const actions = {
  /** Set its budget, and bring projects into it. */
  maintain: { roles: ['owner', 'maintainer'], who: 'Only owners and maintainers of' },
  /** Start jobs and deployments for it. */
  submit: { roles: ['owner', 'maintainer', 'member'], who: 'Viewers may not act for' },
} as const satisfies Record<string, { roles: readonly TeamRole[]; who: string }>

export type TeamAction = keyof typeof actions

/** Refuses people whose role in the team does not permit the action; to people who are not in it, it looks missing. */
export async function refuseUnlessInTeam(
  db: Db,
  { team, caller, action }: { team: string; caller: Asking; action: TeamAction },
): Promise<void> {
  const role = await roleInTeam(db, team, caller.username)
  if (caller.role === 'admin' && (await isThere(db, team))) return
  if (role === null) throw new Refusal('not_found', `No such team: ${team}`)
  const { roles, who }: { roles: readonly TeamRole[]; who: string } = actions[action]
  if (!roles.includes(role))
    throw new Refusal('forbidden', `${who} team ${team}`, { code: 'team.role' })
}

async function isThere(db: Db, team: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'team_is_there',
    text: 'select from write.team where name = $1 and deleted_at is null',
    values: [team],
  })
  return rowCount === 1
}

/** Before something begins to belong to the team: a deletion of the team waits, and then sees it. */
export async function holdTeam(tx: Transaction, team: string): Promise<void> {
  if (!(await holdResource(tx, { kind: 'team', id: team })))
    throw new Refusal('not_found', `No such team: ${team}`)
}

/** Before a deployment in this project begins to belong to the team: it takes a role that may start jobs for the team. */
export async function holdTeamFor(
  tx: Transaction,
  { team, project, caller }: { team: string; project: string; caller: Asking },
): Promise<void> {
  await refuseUnlessInTeam(tx, { team, caller, action: 'submit' })
  const { rows } = await tx.query<{ team: string | null }>(
    'select team from write.project where name = $1',
    [project],
  )
  const owning = rows[0]?.team ?? null
  if (owning !== null && owning !== team)
    throw new Refusal('invalid', `Project ${project} belongs to team ${owning}, not to ${team}`, {
      code: 'team.unknown',
    })
  await holdTeam(tx, team)
}
