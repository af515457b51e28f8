import { projectAt } from '../../events/projects.ts'
import { type GroupRole, teamAt } from '../../events/teams.ts'
import type { Cause } from '../commit/asked.ts'
import { create } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { handOverProjects, projectsOfOwner } from '../rules/hand-over.ts'
import { applyGroups } from './decide.ts'
import { saveTeam } from './rows.ts'

/** Groups of one sign-in that count. */
const mostGroups = 1000

/** Gives a person the roles that the groups of their sign-in have in teams, and ends memberships that only groups gave. */
export const takeTeams =
  (deps: Deps) =>
  async (cause: Cause, { username, groups }: { username: string; groups: readonly string[] }) => {
    const { rows } = await deps.pool.query<{ team: string; role: GroupRole | null }>(
      `select team, (array_agg(role order by array_position(array['maintainer', 'member', 'viewer'], role)))[1] as role
         from (select team, role from write.team_group where group_name = any($1)
                union all select team, null from write.team_member where username = $2) known
        group by team order by team`,
      [groups.slice(0, mostGroups), username],
    )
    for (const { team, role } of rows) await takeRole(deps, cause, { team, username, role })
  }

type Taking = { team: string; username: string; role: GroupRole | null }

async function takeRole(deps: Deps, cause: Cause, { team, username, role }: Taking): Promise<void> {
  const target = teamAt(team)
  const projects = role === null ? await projectsOfOwner(deps.pool, { team, owner: username }) : []
  await create(deps, cause, target, {
    locks: projects.map(project => projectAt(project).stream),
    async make(work) {
      const { before, events } = await work.decide(target, {
        decide: found => applyGroups(found, { name: team, username }, role),
        alongside: saveTeam,
      })
      if (role === null && events.length > 0)
        await handOverProjects(work, {
          team,
          before,
          from: username,
          to: undefined,
          locked: projects,
        })
    },
  })
}
