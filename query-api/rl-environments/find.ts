import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { RlEnvironmentTables } from '../../projector/rl-environments/table.ts'
import type {
  EnvironmentName,
  EnvironmentVersion,
} from '../../schemas/rl-environments/reference.ts'
import { rlEnvironmentPath } from '../../schemas/rl-environments/rl-environments.ts'
import type { Reads } from '../reading/reads.ts'
import type { AccessTables } from '../rules/access.ts'

export type Tables = RlEnvironmentTables & AccessTables
export type Db = Kysely<Tables>

/** SQL condition: may this person see environment `e`? Who sees one may also use it. */
export const maySee = ({
  username,
  role,
}: Pick<Person, 'username' | 'role'>): RawBuilder<SqlBool> => sql<SqlBool>`
  (${role === 'admin'} or e.owner = ${username} or e.visibility = 'public')`

/** For routes about an environment. */
export const ofEnvironment = (reads: Reads<Tables>) =>
  ({
    credential: 'person',
    reach: 'its_people',
    params: rlEnvironmentPath,
    refusals: ['not_found'],
    of: ({ caller, params }: { caller: Person; params: EnvironmentName }) =>
      findEnvironment(reads, caller, params),
  }) as const

/** An environment that the caller may not see looks as if it did not exist. */
export async function findEnvironment(
  reads: Reads<Tables>,
  caller: Person,
  { owner, name }: EnvironmentName,
) {
  const db = reads.as(caller)
  const row = await db
    .selectFrom('rl_environments as e')
    .selectAll('e')
    .where('e.owner', '=', owner)
    .where('e.name', '=', name)
    .where(maySee(caller))
    .executeTakeFirst()
  if (!row) throw new Refusal('not_found', `No such environment: ${owner}/${name}`)
  return { db, caller, row }
}

type Found = Awaited<ReturnType<typeof findEnvironment>>

/** A version with its log and rollouts. */
export async function findVersion({ db }: Found, { owner, name, version }: EnvironmentVersion) {
  const found = db.selectFrom('rl_environment_versions').selectAll()
  const row = await found.where(eb => eb.and({ owner, name, version })).executeTakeFirst()
  if (row) return row
  throw new Refusal('not_found', `The environment ${owner}/${name} has no version ${version}`)
}
