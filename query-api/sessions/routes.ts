import { type Kysely, sql } from 'kysely'
import type { Pool } from 'pg'
import { type Route, route } from '../../platform/http/route.ts'
import type { Clock } from '../../platform/time.ts'
import type { ArtifactTables } from '../../projector/artifacts/table.ts'
import type { JobTables } from '../../projector/jobs/table.ts'
import type { QuotaTables } from '../../projector/quotas/table.ts'
import type { RunTables } from '../../projector/runs/table.ts'
import { defaultQuota, type Quota } from '../../schemas/quotas.ts'
import { me } from '../../schemas/sessions.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { readUsage } from '../usage.ts'

export type SessionDeps = {
  db: Kysely<ArtifactTables & JobTables & QuotaTables & RunTables>
  /** Reaches the schema `auth`. */
  pool: Pool
  now: Clock
}

/** As the console calls the roles (specification, "Users and roles"). */
const labelOf = { admin: 'Admin', operator: 'Member' } as const

export const sessionRoutes = ({ db, pool, now }: SessionDeps): Route[] => [
  route({
    method: 'GET',
    path: '/api/auth/me',
    credential: 'person',
    tag: 'auth',
    summary: 'Who calls, what they may hold and what they hold',
    response: me,
    async handle({ caller }) {
      const { username, role, via } = caller
      const [person, quota, usage, bytes] = await Promise.all([
        findPerson(pool, username),
        readQuota(db, username),
        readUsage(db, username, now()),
        readStorage(db, username),
      ])
      return {
        username,
        role,
        role_label: labelOf[role],
        display_name: person.display_name,
        email: person.email,
        teams: [],
        quota,
        usage: {
          concurrent_gpus: usage.gpus,
          concurrent_jobs: usage.jobs,
          gpu_hours_today: (usage.gpu_seconds / 3600).toFixed(1),
          storage_gb: (bytes / 1e9).toFixed(1),
        },
        token: {
          kind: 'access',
          method: via,
          issued_at: toTimestamp(caller.issuedAt),
          expires_at: toTimestamp(caller.expiresAt),
        },
        unread_notifications: 0,
      }
    },
  }),
]

type PersonRow = { display_name: string | null; email: string | null }

async function findPerson(pool: Pool, username: string): Promise<PersonRow> {
  const { rows } = await pool.query<PersonRow>(
    'select display_name, email from auth.person where username = $1',
    [username],
  )
  return rows[0] ?? { display_name: null, email: null }
}

async function readQuota(db: Kysely<QuotaTables>, username: string): Promise<Quota> {
  const row = await db
    .selectFrom('quotas')
    .select('quota')
    .where('username', '=', username)
    .executeTakeFirst()
  return row ? { ...row.quota, default: false } : defaultQuota
}

/** Bytes of what the person's runs have registered. */
async function readStorage(
  db: Kysely<ArtifactTables & RunTables>,
  username: string,
): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(a.size_bytes), 0)::float8 as bytes
      from runs r join artifacts a using (run_id) where r.owner = ${username}`.execute(db)
  return rows[0]?.bytes ?? 0
}
