import { type Route, route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import { type PersonRow, user, userListQuery, userOf, userPath } from '../../schemas/users.ts'
import { listRoute } from '../list-route.ts'
import { countPeople, type PeopleDeps } from '../people.ts'
import { readQuotas } from '../quota.ts'

export const userRoutes = ({ reads, pool }: PeopleDeps): Route[] => [
  listRoute({
    path: '/api/admin/users',
    credential: 'admin',
    tag: 'admin',
    summary: 'List the users',
    query: userListQuery,
    row: user,
    async read({ caller }, { limit, offset }) {
      const { rows: people } = await pool.query<PersonRow>(
        `${selectPeople} order by username limit $1 offset $2`,
        [limit, offset],
      )
      const quotaOf = await readQuotas(
        reads.as(caller),
        people.map(({ username }) => username),
      )
      const rows = people.map(person => userOf(person, quotaOf(person.username)))
      return { rows, counted: await countPeople(pool) }
    },
  }),
  route({
    method: 'GET',
    path: '/api/admin/users/{username}',
    credential: 'admin',
    tag: 'admin',
    summary: 'Read a user',
    params: userPath,
    response: user,
    refusals: ['not_found'],
    async handle({ caller, params }) {
      const { username } = params
      const { rows } = await pool.query<PersonRow>(`${selectPeople} where username = $1`, [
        username,
      ])
      if (!rows[0]) throw new Refusal('not_found', `No such user: ${username}`)
      const quotaOf = await readQuotas(reads.as(caller), [username])
      return userOf(rows[0], quotaOf(username))
    },
  }),
]

const selectPeople = `select username, role, display_name, email, disabled, created_at, last_login_at,
                             case when password_hash is null then 'oidc' else 'password' end as auth
                        from auth.person`
