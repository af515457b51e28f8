import type { Pool } from 'pg'
import type { Person } from '../auth/caller.ts'
import { type ProjectEvent, projectAt } from '../events/projects.ts'
import { Refusal } from '../platform/refusal.ts'
import { type Asking, judge, type ProjectFacts, rolesIn } from './access.ts'
import type { Work } from './commit.ts'
import type { Deps } from './deps.ts'

export type ShortIdDeps = Pick<Deps, 'config'>

/**
 * Locks for the transaction of a first submit, which creates the project. Later submits append nothing to the
 * project's stream and need not wait for its lock before they update the counter.
 */
export const locksOfShortId = (project: string, exists: boolean): string[] =>
  exists ? [] : [projectAt(project).stream]

export async function projectExists(pool: Pool, name: string): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'project_exists',
    text: 'select 1 from write.project where name = $1',
    values: [name],
  })
  return rowCount !== 0
}

export type TakeShortId = { project: string; caller: Person }

/**
 * The next short id `<project>-<n>` of a project. The first submit creates the project and makes the submitter its
 * owner; afterwards only the owner, members and admins may submit to it.
 */
export async function takeShortId(
  { config }: ShortIdDeps,
  work: Work,
  { project, caller }: TakeShortId,
): Promise<string> {
  const owner = caller.username
  const visibility = config.defaultVisibility
  const { rows } = await work.tx.query({
    name: 'take_short_id',
    text: `insert into write.project as p (name, owner, visibility, created_at, last_short)
           values ($1, $2, $3, $4, 1)
           on conflict (name) do update set last_short = p.last_short + 1
           returning last_short, xmax = 0 as is_new, owner, visibility, (
             select role from write.project_member m
              where m.project = p.name and m.username = $2) as member_role`,
    values: [project, owner, visibility, work.now],
  })
  const [row] = rows
  refuseStrangers(row, project, caller)
  if (row.is_new)
    await work.decide(projectAt(project), {
      decide: (): ProjectEvent[] => [
        { type: 'project.created', data: { name: project, owner, visibility } },
      ],
    })
  return `${project}-${row.last_short}`
}

/** Throws the refusals of `takeShortId` without changing anything. */
export async function refuseProjectOfOthers(
  pool: Pool,
  project: string,
  caller: Person,
): Promise<void> {
  const { rows } = await pool.query<Row>({
    name: 'project_to_submit_to',
    text: `select owner, visibility, (
             select role from write.project_member m
              where m.project = p.name and m.username = $2) as member_role
             from write.project p where name = $1`,
    values: [project, caller.username],
  })
  if (rows[0]) refuseStrangers(rows[0], project, caller)
}

type Row = Pick<ProjectFacts, 'owner' | 'visibility'> & {
  member_role: ProjectFacts['memberRole']
}

/** Names are global, so a taken name is not secret: 403 instead of 404. */
function refuseStrangers(row: Row, project: string, caller: Asking): void {
  const { owner, visibility, member_role: memberRole } = row
  const roles = rolesIn({ owner, visibility, memberRole }, caller)
  if (judge(roles, 'submit') !== 'permitted')
    throw new Refusal(
      'forbidden',
      `Project ${project} belongs to somebody else; ask its owner to make you a member`,
    )
}
