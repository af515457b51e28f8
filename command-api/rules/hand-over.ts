import type { Pool } from 'pg'
import { type Project, type ProjectEvent, projectAt } from '../../events/projects.ts'
import type { Team } from '../../events/teams.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Work } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'

/** Projects of a person that one leaving hands over. */
const most = 1000

/** The projects of a team that one of its members owns. */
export async function projectsOfOwner(
  db: Pool | Transaction,
  { team, owner }: { team: string; owner: string },
): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    'select name from write.project where team = $1 and owner = $2 order by name limit $3',
    [team, owner, most],
  )
  return rows.map(({ name }) => name)
}

export type HandedOver = { project: string; owner: string }

type Leaving = {
  team: string
  /** The team before the person left. */
  before: Team
  from: string
  /** The chosen heir; absent: the owner who has been in the team for the longest time. */
  to: string | undefined
  /** The projects whose streams are locked. */
  locked: readonly string[]
}

/** Gives the projects of somebody who leaves a team to another member, in the transaction in which they leave. */
export async function handOverProjects(
  work: Work,
  { team, before, from, to, locked }: Leaving,
): Promise<HandedOver[]> {
  const owner = heirOf(before, { team, from, to })
  const names = await projectsOfOwner(work.tx, { team, owner: from })
  if (names.some(name => !locked.includes(name)))
    throw new Refusal('conflict', `The projects of ${from} in team ${team} just changed; try again`)
  for (const name of names) {
    const decide = (project: Project): ProjectEvent[] =>
      project ? [{ type: 'project.transferred', data: { name, team, owner } }] : []
    await work.decide(projectAt(name), { decide, alongside: saveTransfers })
  }
  return names.map(project => ({ project, owner }))
}

function heirOf(before: Team, { team, from, to }: Pick<Leaving, 'team' | 'from' | 'to'>): string {
  const members = before === null || before === 'deleted' ? [] : [...before.members]
  const others = members.filter(([username]) => username !== from)
  const heir =
    to === undefined
      ? others.find(([, { role }]) => role === 'owner')
      : others.find(([username, { role }]) => username === to && role !== 'viewer')
  // The last owner cannot leave.
  if (!heir)
    throw new Refusal('invalid', `${to} is not a member of team ${team} who may own projects`, {
      code: 'team.no_heir',
    })
  return heir[0]
}

/** Updates the rows from which commands decide who may do what in a project. */
export async function saveTransfers(
  tx: Transaction,
  { events }: { events: readonly ProjectEvent[] },
): Promise<void> {
  for (const { type, data } of events)
    if (type === 'project.transferred') {
      const { name, team, owner } = data
      await tx.query('update write.project set team = $2, owner = $3 where name = $1', [
        name,
        team,
        owner,
      ])
      await tx.query('delete from write.project_member where project = $1 and username = $2', [
        name,
        owner,
      ])
    }
}
