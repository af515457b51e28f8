import type { Pool } from 'pg'
import type { Route } from '../../auth/route.ts'
import { isOneOf } from '../../platform/postgres/one-of.ts'
import { respondingStates } from '../../schemas/deployments/serving-states.ts'
import {
  type PlaygroundSession,
  playgroundPath,
  playgroundQuery,
  playgroundSession,
} from '../../schemas/playground.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { one, pagedList } from '../reading/list.ts'
import type { RecordDeps } from './record.ts'

type Row = Omit<
  PlaygroundSession,
  'base_url' | 'created_at' | 'last_used_at' | 'expires_at' | 'source'
> & {
  created_at: Date
  last_used_at: Date
  expires_at: Date
  artifact_id: string | null
  revision_id: string | null
  model: string | null
  counted: number
}

/** Sessions only live for hours and have no read model: they are read from the gateways' own rows. */
export const playgroundRoutes = (deps: RecordDeps): Route[] => [
  pagedList({
    of: ({ caller }) => caller.username,
    path: '/api/playground',
    credential: 'person',
    tag: 'playground',
    summary: 'Your playground sessions, newest first',
    query: playgroundQuery,
    row: playgroundSession,
    async read(username, _, page) {
      const rows = await read(deps.pool, { username, session_id: null, ...page })
      return { rows: rows.map(row => toSession(deps, row)), counted: rows[0]?.counted ?? 0 }
    },
  }),
  one({
    credential: 'person',
    reach: 'self',
    path: '/api/playground/{session_id}',
    tag: 'playground',
    summary: 'Read a playground session',
    params: playgroundPath,
    response: playgroundSession,
    missing: ({ session_id }) => `No such playground session: ${session_id}`,
    of: ({ caller }) => caller.username,
    async read(username, { params: { session_id } }) {
      const [row] = await read(deps.pool, { username, session_id, limit: 1, offset: 0 })
      return row && toSession(deps, row)
    },
  }),
]

type Asked = { username: string; session_id: string | null; limit: number; offset: number }

async function read(pool: Pool, { username, session_id, limit, offset }: Asked): Promise<Row[]> {
  const { rows } = await pool.query<Row>({
    name: 'playground_sessions',
    text: `select s.session_id, s.artifact_id, s.revision_id, s.model, s.deployment_id, s.params,
                  coalesce(s.ended_as, case when ${isOneOf('d.state', respondingStates)} then 'ready' else 'starting' end) as state,
                  s.end_reason as state_reason, s.username as created_by, s.created_at, s.last_used_at, s.expires_at,
                  s.idle_timeout_s, s.max_lifetime_s, v.serving -> 'served_names' as served_names,
                  (count(*) over ())::int as counted
             from write.playground_session s
             join write.deployment_state d using (deployment_id)
             cross join lateral (
               select serving from write.revision_state v
                where v.deployment_id = s.deployment_id and v.revision_id = coalesce(s.revision_id, v.revision_id)
                limit 1) v
            where s.username = $1 and ($2::text is null or s.session_id = $2)
            order by s.created_at desc, s.session_id desc limit $3 offset $4`,
    values: [username, session_id, limit, offset],
  })
  return rows
}

function toSession({ baseUrl }: RecordDeps, row: Row): PlaygroundSession {
  const { artifact_id, revision_id, model, counted: _, ...session } = row
  return {
    ...session,
    source: { artifact_id, revision_id, model },
    base_url: `${baseUrl()}/inference/${row.session_id}/v1`,
    created_at: toTimestamp(row.created_at),
    last_used_at: toTimestamp(row.last_used_at),
    expires_at: toTimestamp(row.expires_at),
  }
}
