import type { Kysely } from 'kysely'
import type { Route } from '../../auth/route.ts'
import type { QuotaTables } from '../../projector/quotas/table.ts'
import { type PersonRow, user, userListQuery, userOf, userPath } from '../../schemas/users.ts'
import { one, pagedList } from '../reading/list.ts'
import { asCaller } from '../reading/reads.ts'
import { countPeople, type PeopleDeps } from '../rules/people.ts'
import { readQuotas } from '../rules/quota.ts'

export const userRoutes = ({ reads, pool }: PeopleDeps): Route[] => [
  pagedList({
    ...asCaller(reads),
    path: '/api/admin/users',
    credential: 'admin',
    tag: 'admin',
    summary: 'List the users',
    query: userListQuery,
    row: user,
    async read({ db }, _, { limit, offset }) {
      const { rows: people } = await pool.query<PersonRow>(
        `${selectPeople} order by username limit $1 offset $2`,
        [limit, offset],
      )
      return { rows: await withQuotas(db, people), counted: await countPeople(pool) }
    },
  }),
  one({
    ...asCaller(reads),
    path: '/api/admin/users/{username}',
    credential: 'admin',
    tag: 'admin',
    summary: 'Read a user',
    params: userPath,
    response: user,
    missing: ({ username }) => `No such user: ${username}`,
    async read({ db }, { params }) {
      const { rows } = await pool.query<PersonRow>(`${selectPeople} where username = $1`, [
        params.username,
      ])
      return (await withQuotas(db, rows))[0]
    },
  }),
]

async function withQuotas(db: Kysely<QuotaTables>, people: readonly PersonRow[]) {
  const quotaOf = await readQuotas(
    db,
    people.map(({ username }) => username),
  )
  return people.map(person => userOf(person, quotaOf(person.username)))
}

const selectPeople = `select username, role, display_name, email, disabled, created_at, last_login_at,
                             case when password_hash is null then 'oidc' else 'password' end as auth,
                             auth.has_second_factor(username) as second_factor
                        from auth.person`
