import { type Route, route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import { quota, quotaListQuery, quotaPath, quotaRow } from '../../schemas/quotas.ts'
import { listRoute } from '../list-route.ts'
import { countPeople, type PeopleDeps } from '../people.ts'
import { readQuotas } from '../quota.ts'

export const quotaRoutes = ({ reads, pool }: PeopleDeps): Route[] => [
  listRoute({
    path: '/api/admin/quotas',
    credential: 'admin',
    tag: 'admin',
    summary: 'List the quota of every user',
    query: quotaListQuery,
    row: quotaRow,
    async read({ caller }, { limit, offset }) {
      const { rows: people } = await pool.query<{ username: string }>(
        'select username from auth.person order by username limit $1 offset $2',
        [limit, offset],
      )
      const usernames = people.map(person => person.username)
      const quotaOf = await readQuotas(reads.as(caller), usernames)
      const rows = usernames.map(username => ({ username, ...quotaOf(username) }))
      return { rows, counted: await countPeople(pool) }
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
