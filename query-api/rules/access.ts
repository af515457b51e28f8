import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { ProjectTables } from '../../projector/projects/table.ts'
import type { RunTables } from '../../projector/runs/table.ts'
import { type MemberRole, projectPath } from '../../schemas/projects.ts'
import { runIdInPath } from '../../schemas/shared.ts'
import type { Reads } from '../reading/reads.ts'

export type AccessTables = ProjectTables & RunTables

/** The projects whose runs a person may read, besides their own runs; null means all (admins). */
export async function readableProjects(
  db: Kysely<ProjectTables>,
  caller: Person,
): Promise<string[] | null> {
  if (caller.role === 'admin') return null
  const { rows } = await sql<{ name: string }>`
    select name from projects where visibility = 'internal' or owner = ${caller.username}
    union select project from project_people where username = ${caller.username}`.execute(db)
  return rows.map(row => row.name)
}

/**
 * SQL condition: may this person read the resource of row `row`, which has an owner and a project? True for its
 * owner, members of its project, admins, and everybody if the project is internal (docs/use/projects.md).
 */
export function mayRead(
  { username, role }: Pick<Person, 'username' | 'role'>,
  row: string,
): RawBuilder<SqlBool> {
  const [owner, project] = [sql.ref(`${row}.owner`), sql.ref(`${row}.project`)]
  return sql<SqlBool>`
  (${role === 'admin'} or ${owner} = ${username}
    or exists (select from projects p where p.name = ${project}
                  and (p.visibility = 'internal' or p.owner = ${username}))
    or exists (select from project_people m
                where m.project = ${project} and m.username = ${username}))`
}

/** SQL: the highest role of a person in a project, as its member or by its team; null: they have none, or own it. */
export const roleIn = (project: RawBuilder<unknown>, username: string) => sql<MemberRole | null>`
  (select m.role from project_people m where m.project = ${project} and m.username = ${username}
    order by array_position(array['maintainer', 'member', 'viewer'], m.role) limit 1)`

/** SQL condition: may this person read run `r`? */
export const mayReadRun = (caller: Person): RawBuilder<SqlBool> => mayRead(caller, 'r')

export type ReadableRun<T> = {
  run_id: string
  source: 'job' | 'external'
  project: string
  /** For further reads about this run. */
  db: Kysely<T>
}

/**
 * The run with this id or short id. A deleted run, or one that the caller may not read, looks as if it did not exist.
 */
export async function findRun<T>(
  reads: Reads<T>,
  caller: Person,
  id: string,
  noun: 'run' | 'job' = 'run',
): Promise<ReadableRun<T>> {
  const { rows } = await sql<Omit<ReadableRun<T>, 'db'>>`
    select r.run_id, r.source, r.project from runs r
     where r.run_id = (select run_id from runs where run_id = ${id} union all
                       select run_id from runs where short_id = ${id} limit 1)
       and r.deleted_at is null and ${mayReadRun(caller)}`.execute(reads.as(caller))
  const run = rows[0]
  if (!run) throw new Refusal('not_found', `No such ${noun}: ${id}`)
  return { ...run, db: reads.as(caller, [run.run_id]) }
}

/** The deleted run with this id or short id, for people who may restore it; to others it looks missing. */
export async function findDeletedRun<T>(
  reads: Reads<T>,
  caller: Person,
  id: string,
): Promise<ReadableRun<T>> {
  const { rows } = await sql<Omit<ReadableRun<T>, 'db'>>`
    select r.run_id, r.source, r.project from runs r
     where (r.run_id = ${id} or r.short_id = ${id}) and r.deleted_at is not null
       and ${mayControl(caller)}`.execute(reads.as(caller))
  const run = rows[0]
  if (!run) throw new Refusal('not_found', `No such deleted run: ${id}`)
  return { ...run, db: reads.as(caller, [run.run_id]) }
}

/** SQL condition: may this person stop, delete and restore run `r`? */
const mayControl = ({ username, role }: Person): RawBuilder<SqlBool> => sql<SqlBool>`
  (${role === 'admin'} or r.owner = ${username}
    or exists (select from projects p where p.name = r.project and p.owner = ${username})
    or exists (select from project_people m
                where m.project = r.project and m.username = ${username} and m.role = 'maintainer'))`

/** The run ids of these ids and short ids, as far as the caller may read them. */
export async function findRunsById<T>(
  reads: Reads<T>,
  caller: Person,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; run_id: string }>`
    select a.id, r.run_id from unnest(${ids}::text[]) a (id)
      join runs r on r.run_id = coalesce((select run_id from runs where run_id = a.id),
                                         (select run_id from runs where short_id = a.id))
     where r.deleted_at is null and ${mayReadRun(caller)}`.execute(reads.as(caller))
  return new Map(rows.map(row => [row.id, row.run_id]))
}

/** The ids of these runs; refuses unless the caller may read each of them. */
export async function findRunIds<T>(
  reads: Reads<T>,
  caller: Person,
  ids: readonly string[],
  noun: 'run' | 'job' = 'run',
): Promise<string[]> {
  const runs = await Promise.all(ids.map(id => findRun(reads, caller, id, noun)))
  return runs.map(({ run_id }) => run_id)
}

/**
 * Whether the caller may read the run of a row. For rows found by their own id, because row-level security may be
 * off.
 */
export const mayReadRunOf = async <T>(
  reads: Reads<T>,
  caller: Person,
  row: { run_id: string },
): Promise<boolean> => {
  try {
    await findRun(reads, caller, row.run_id)
    return true
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}

/** The 404 of a run that has no job. */
export const noSuchJob = ({ run_id }: { run_id: string }): string => `No such job: ${run_id}`

/** For routes about a run, open to everybody who may read it. */
export const ofRun = <T>(reads: Reads<T>, noun: 'run' | 'job' = 'run') =>
  ({
    credential: 'person',
    reach: 'its_people',
    params: runIdInPath,
    refusals: ['not_found'],
    of: ({ caller, params }: { caller: Person; params: { run_id: string } }) =>
      findRun(reads, caller, params.run_id, noun),
  }) as const

/** For routes about a project; if the caller may not read it, it looks as if it did not exist. */
export const inProject = <T extends ProjectTables>(reads: Reads<T>) =>
  ({
    credential: 'person',
    reach: 'its_people',
    params: projectPath,
    refusals: ['not_found'],
    async of({ caller, params: { name } }: { caller: Person; params: { name: string } }) {
      const db = reads.as(caller)
      const readable = await readableProjects(db as unknown as Kysely<ProjectTables>, caller)
      const { rows } = await sql`select from projects where name = ${name}`.execute(db)
      if (rows.length === 0 || (readable !== null && !readable.includes(name)))
        throw new Refusal('not_found', `No such project: ${name}`)
      return { db }
    },
  }) as const
