import type { Pool } from 'pg'
import type { Person, Submitter } from '../../auth/caller.ts'
import { type ProjectEvent, projectAt } from '../../events/projects.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Work } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { type Asking, judge, type ProjectFacts, rolesIn } from './access.ts'

export type ShortIdDeps = Pick<Deps, 'config' | 'pool' | 'shortNumbers'>

export type TakeShortId = { project: string; caller: Submitter }

/** A short id `<project>-<n>` that no other run has or will have. */
export type ShortId = {
  /** Further locks needed by a transaction that calls `take`. */
  locks: readonly string[]
  take(work: Work): Promise<string>
}

/**
 * The next short id of a project. The first submit creates the project, in the same transaction, and makes the
 * submitter its owner; afterwards only the owner, members and admins may submit to it.
 *
 * The number of an existing project is taken outside the transaction, which would otherwise keep the project's row locked
 * until its commit: all submits to one project would wait for each other. The number of a failed submit is lost, and so may be
 * that of a repeated one.
 */
export async function nextShortId(deps: ShortIdDeps, asked: TakeShortId): Promise<ShortId> {
  const { project, caller } = asked
  return shortIdIn(await findProject(deps.pool, project, caller), deps, asked)
}

/** The same with the project already looked up; null: it does not exist yet. */
export function shortIdIn(
  known: ProjectFacts | null,
  deps: ShortIdDeps,
  asked: TakeShortId,
): ShortId {
  const { project, caller } = asked
  if (!known)
    return {
      locks: [projectAt(project).stream],
      take: async work => `${project}-${await createProject(deps, work, asked)}`,
    }
  refuseProjectOfOthers(known, project, caller)
  return { locks: [], take: async () => `${project}-${await deps.shortNumbers.take(project)}` }
}

/** Creates the project and returns its first number; if another submit came first, its next one. */
async function createProject(
  { config }: ShortIdDeps,
  work: Work,
  { project, caller }: TakeShortId,
): Promise<number> {
  const owner = caller.username
  const visibility = config.defaultVisibility
  const { rows } = await work.tx.query<{ last_short: number; is_new: boolean }>({
    name: 'create_project',
    text: `insert into write.project as p (name, owner, visibility, created_at, last_short)
           values ($1, $2, $3, $4, 1)
           on conflict (name) do update set last_short = p.last_short + 1
           returning last_short, xmax = 0 as is_new`,
    values: [project, owner, visibility, work.now],
  })
  const [row] = rows
  if (!row) throw new Error(`project ${project} was neither created nor found`)
  if (row.is_new)
    await work.decide(projectAt(project), {
      decide: (): ProjectEvent[] => [
        { type: 'project.created', data: { name: project, owner, visibility } },
      ],
    })
  else {
    const known = await findProject(work.tx, project, caller)
    if (known) refuseProjectOfOthers(known, project, caller)
  }
  return row.last_short
}

/** Creates a project before its first run; returns false if the name is taken, regardless of the owner. */
export async function createEmptyProject(
  { config }: Pick<Deps, 'config'>,
  work: Work,
  { project, caller }: { project: string; caller: Pick<Person, 'username'> },
): Promise<boolean> {
  const { username: owner } = caller
  const visibility = config.defaultVisibility
  const { rowCount } = await work.tx.query(
    `insert into write.project (name, owner, visibility, created_at, last_short)
     values ($1, $2, $3, $4, 0) on conflict do nothing`,
    [project, owner, visibility, work.now],
  )
  if (rowCount === 0) return false
  await work.decide(projectAt(project), {
    decide: (): ProjectEvent[] => [
      { type: 'project.created', data: { name: project, owner, visibility } },
    ],
  })
  return true
}

/** Null: there is no such project. */
export async function findProject(
  db: Pool | Transaction,
  project: string,
  caller: Pick<Submitter, 'username'>,
): Promise<ProjectFacts | null> {
  const { rows } = await db.query<{ known: ProjectFacts }>({
    name: 'project_to_submit_to',
    text: `select ${projectFacts('$2')} as known from write.project p where name = $1`,
    values: [project, caller.username],
  })
  return rows[0]?.known ?? null
}

/** SQL: the facts about project `p` for this person. */
export const projectFacts = (username: string) => `jsonb_build_object(
  'owner', p.owner, 'visibility', p.visibility, 'memberRole', (
    select m.role from write.project_person m where m.project = p.name and m.username = ${username}
     order by m.rank desc limit 1))`

/** Names are global, so a taken name is not secret: 403 instead of 404. */
export function refuseProjectOfOthers(known: ProjectFacts, project: string, caller: Asking): void {
  if (judge(rolesIn(known, caller), 'submit') !== 'permitted')
    throw new Refusal(
      'forbidden',
      `Project ${project} belongs to somebody else; ask its owner to make you a member`,
    )
}
