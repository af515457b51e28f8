import { type Kysely, sql } from 'kysely'
import type { Pool } from 'pg'
import type { Static } from 'typebox'
import type { Person } from '../../auth/caller.ts'
import { codeLifeS, pollIntervalS } from '../../auth/device-requests.ts'
import { hasPasskeys } from '../../auth/relying-party.ts'
import { type Route, route } from '../../auth/route.ts'
import { mustSetUp, type SecondFactorPolicy } from '../../auth/second-factor.ts'
import { hoursText } from '../../events/calculations/billing.ts'
import type { Clock } from '../../platform/time.ts'
import type { ArtifactTables } from '../../projector/artifacts/table.ts'
import type { JobTables } from '../../projector/jobs/table.ts'
import type { QuotaTables } from '../../projector/quotas/table.ts'
import type { RunTables } from '../../projector/runs/table.ts'
import type { UsageTables } from '../../projector/usage/table.ts'
import { me, session, sessionListQuery, signInConfig } from '../../schemas/sessions.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { roleLabels } from '../../schemas/users.ts'
import { pagedList } from '../reading/list.ts'
import type { Reads } from '../reading/reads.ts'
import { readQuotas } from '../rules/quota.ts'
import { readUsage } from '../rules/usage.ts'
import { ownSessions } from './own-sessions.ts'

export type Tables = ArtifactTables & JobTables & QuotaTables & RunTables & UsageTables

export type SessionDeps = {
  reads: Reads<Tables>
  /** Can read the schema `auth`. */
  pool: Pool
  now: Clock
  signIn: SignInSettings
  figures: OwnFigures
}

/** Figures from other slices for `GET /api/auth/me`. */
export type OwnFigures = {
  unread_notifications: (caller: Person) => Promise<number>
  teams: (caller: Person) => Promise<{ name: string; role: string }[]>
}

/** Shown before sign-in. */
export type SignInSettings = {
  accessTokenHours: number
  /** Hours without use after which a session ends; 0: never. */
  sessionIdleHours: number
  /** The public address of this installation. */
  baseUrl: () => string
  /** Display name of the identity provider; null if people sign in with passwords. */
  providerName: string | null
  secondFactor: SecondFactorPolicy
}

export const sessionRoutes = (deps: SessionDeps): Route[] => [...signInRoutes(deps), meRoute(deps)]

const signInRoutes = ({ pool, now, signIn }: SessionDeps): Route[] => [
  route({
    method: 'GET',
    path: '/api/auth/config',
    credential: 'none',
    tag: 'auth',
    summary: 'The ways to sign in here',
    response: signInConfig,
    handle: async () => waysToSignIn(signIn),
  }),
  pagedList({
    of: ({ caller }) => caller,
    path: '/api/auth/sessions',
    credential: 'person',
    tag: 'auth',
    summary: 'Your own live sessions',
    query: sessionListQuery,
    row: session,
    async read(caller, _, page) {
      const { sessions, counted } = await ownSessions(pool, {
        caller,
        now: now(),
        idleHours: signIn.sessionIdleHours,
        ...page,
      })
      return { rows: sessions, counted }
    },
  }),
]

const meRoute = ({ reads, pool, now, signIn, figures }: SessionDeps): Route =>
  route({
    method: 'GET',
    path: '/api/auth/me',
    credential: 'person',
    whileLimited: 'either',
    tag: 'auth',
    summary: 'Who calls, what they may hold and what they hold',
    response: me,
    async handle({ caller }) {
      const { username, role, via } = caller
      const db = reads.as(caller)
      const [person, quotaOf, usage, bytes, unread_notifications, teams] = await Promise.all([
        findPerson(pool, username),
        readQuotas(db, [username]),
        readUsage(db, username, now()),
        readStorage(db, username),
        figures.unread_notifications(caller),
        figures.teams(caller),
      ])
      return {
        username,
        role,
        role_label: roleLabels[role],
        display_name: person.display_name,
        email: person.email,
        teams,
        quota: quotaOf(username),
        usage: {
          concurrent_gpus: usage.gpus,
          concurrent_jobs: usage.jobs,
          gpu_hours_today: hoursText(usage.gpu_ms, 1),
          storage_gb: (bytes / 1e9).toFixed(1),
        },
        token: {
          kind: 'access',
          method: via,
          issued_at: toTimestamp(caller.issuedAt),
          expires_at: toTimestamp(caller.expiresAt),
        },
        must_change_password: person.has_generated_password,
        second_factor: secondFactorOf(signIn, role, person),
        unread_notifications,
      }
    },
  })

const secondFactorOf = (
  { providerName, secondFactor }: SignInSettings,
  role: Person['role'],
  { has_password, set_up_at, passkeys, recovery_codes }: PersonRow,
): Static<typeof me>['second_factor'] => ({
  is_available: providerName === null && has_password,
  set_up_at: set_up_at && toTimestamp(set_up_at),
  passkeys,
  recovery_codes_left: recovery_codes,
  must_set_up: mustSetUp(secondFactor, {
    role,
    has_password,
    has_second_factor: set_up_at !== null || passkeys > 0,
  }),
})

const waysToSignIn = ({
  accessTokenHours,
  baseUrl,
  providerName: name,
}: SignInSettings): Static<typeof signInConfig> => ({
  methods: [name === null ? 'password' : 'oidc', 'device'],
  password: { enabled: name === null },
  oidc: {
    enabled: name !== null,
    name,
    login_url: name === null ? null : `${baseUrl()}/api/auth/oidc/login`,
  },
  passkey: { enabled: hasPasskeys({ baseUrl: baseUrl(), providerName: name }) },
  device: { enabled: true, interval_s: pollIntervalS, expires_in_s: codeLifeS },
  access_token_hours: accessTokenHours,
  instance: { name: 'forge', console_url: baseUrl() },
  notice: null,
})

type PersonRow = {
  display_name: string | null
  email: string | null
  has_password: boolean
  has_generated_password: boolean
  set_up_at: Date | null
  passkeys: number
  recovery_codes: number
}

async function findPerson(pool: Pool, username: string): Promise<PersonRow> {
  const { rows } = await pool.query<PersonRow>(
    `select display_name, email, password_hash is not null as has_password, t.set_up_at,
            password_generated_at is not null as has_generated_password,
            (select count(*)::integer from auth.passkey k where k.username = p.username) as passkeys,
            (select count(*)::integer from auth.recovery_code r where r.username = p.username)
              as recovery_codes
       from auth.person p left join auth.totp t using (username) where username = $1`,
    [username],
  )
  if (!rows[0]) throw new Error(`${username} is signed in, but is not in auth.person`)
  return rows[0]
}

/** Total bytes of the artifacts that the person's runs registered, without deleted ones. */
async function readStorage(
  db: Kysely<ArtifactTables & RunTables>,
  username: string,
): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(a.size_bytes), 0)::float8 as bytes
      from runs r join artifacts a using (run_id)
     where r.owner = ${username} and a.status not in ('deleting', 'deleted')`.execute(db)
  return rows[0]?.bytes ?? 0
}
