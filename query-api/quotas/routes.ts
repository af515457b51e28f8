import type { Route } from '../../auth/route.ts'
import { quota, quotaListQuery, quotaPath, quotaRow } from '../../schemas/quotas.ts'
import { one, pagedList } from '../reading/list.ts'
import { asCaller } from '../reading/reads.ts'
import { countPeople, type PeopleDeps } from '../rules/people.ts'
import { readQuotas } from '../rules/quota.ts'

export const quotaRoutes = ({ reads, pool }: PeopleDeps): Route[] => [
  pagedList({
    ...asCaller(reads),
    path: '/api/admin/quotas',
    credential: 'admin',
    tag: 'admin',
    summary: 'List the quota of every user',
    query: quotaListQuery,
    row: quotaRow,
    async read({ db }, _, { limit, offset }) {
      const { rows: people } = await pool.query<{ username: string }>(
        'select username from auth.person order by username limit $1 offset $2',
        [limit, offset],
      )
      const usernames = people.map(person => person.username)
      const quotaOf = await readQuotas(db, usernames)
      const rows = usernames.map(username => ({ username, ...quotaOf(username) }))
      return { rows, counted: await countPeople(pool) }
    },
  }),
  one({
    ...asCaller(reads),
    path: '/api/admin/quotas/{username}',
    credential: 'admin',
    tag: 'admin',
    summary: "Read a user's quota",
    params: quotaPath,
    response: quota,
    missing: ({ username }) => `No such user: ${username}`,
    async read({ db }, { params: { username } }) {
      const { rowCount } = await pool.query('select 1 from auth.person where username = $1', [
        username,
      ])
      return rowCount === 0 ? undefined : (await readQuotas(db, [username]))(username)
    },
  }),
]
