import type { Pool } from 'pg'
import { Type } from 'typebox'
import { type Route, route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { QuotaTables } from '../../projector/quotas/table.ts'
import { quota, quotaListQuery, quotaPath, quotaRow } from '../../schemas/quotas.ts'
import { pageHeaders } from '../page.ts'
import { readQuotas } from '../quota.ts'
import type { Reads } from '../reads.ts'

export type QuotaDeps = {
  reads: Reads<QuotaTables>
  /** Can read the schema `auth`, for the list of people. */
  pool: Pool
}

export const quotaRoutes = ({ reads, pool }: QuotaDeps): Route[] => [
  route({
    method: 'GET',
    path: '/api/admin/quotas',
    credential: 'admin',
    tag: 'admin',
    summary: 'List the quota of every user',
    query: quotaListQuery,
    response: Type.Array(quotaRow),
    async handle({ caller, query, ctx }) {
      const { limit = 50, offset = 0 } = query
      const { rows } = await pool.query<{ username: string }>(
        'select username from auth.person order by username limit $1 offset $2',
        [limit, offset],
      )
      const { rows: counted } = await pool.query('select count(*) as count from auth.person')
      pageHeaders(ctx, { limit, offset }, counted[0]?.count)
      const usernames = rows.map(row => row.username)
      const quotaOf = await readQuotas(reads.as(caller), usernames)
      return usernames.map(username => ({ username, ...quotaOf(username) }))
    },
  }),
  route({
    method: 'GET',
    path: '/api/admin/quotas/{username}',
    credential: 'admin',
    tag: 'admin',
    summary: "Read a user's quota",
    params: quotaPath,
    response: quota,
    refusals: ['not_found'],
    async handle({ caller, params }) {
      const { username } = params
      const { rowCount } = await pool.query('select 1 from auth.person where username = $1', [
        username,
      ])
      if (rowCount === 0) throw new Refusal('not_found', `No such user: ${username}`)
      const quotaOf = await readQuotas(reads.as(caller), [username])
      return quotaOf(username)
    },
  }),
]
