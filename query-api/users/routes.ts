import type { Pool } from 'pg'
import { Type } from 'typebox'
import { type Route, route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { QuotaTables } from '../../projector/quotas/table.ts'
import { type PersonRow, user, userListQuery, userOf, userPath } from '../../schemas/users.ts'
import { pageHeaders } from '../page.ts'
import { readQuotas } from '../quota.ts'
import type { Reads } from '../reads.ts'

export type UserDeps = {
  reads: Reads<QuotaTables>
  /** Can read the schema `auth`. */
  pool: Pool
}

export const userRoutes = ({ reads, pool }: UserDeps): Route[] => [
  route({
    method: 'GET',
    path: '/api/admin/users',
    credential: 'admin',
    tag: 'admin',
    summary: 'List the users',
    query: userListQuery,
    response: Type.Array(user),
    async handle({ caller, query, ctx }) {
      const { limit = 50, offset = 0 } = query
      const { rows } = await pool.query<PersonRow>(
        `${selectPeople} order by username limit $1 offset $2`,
        [limit, offset],
      )
      const { rows: counted } = await pool.query('select count(*) as count from auth.person')
      pageHeaders(ctx, { limit, offset }, counted[0]?.count)
      const quotaOf = await readQuotas(
        reads.as(caller),
        rows.map(({ username }) => username),
      )
      return rows.map(row => userOf(row, quotaOf(row.username)))
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
