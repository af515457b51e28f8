import type { Pool } from 'pg'
import type { Identity } from '../../auth/identity-provider.ts'
import type { OidcSettings } from '../../auth/oidc-settings.ts'
import { type Role, type UserEvent, userAt } from '../../events/users.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Cause } from '../commit/asked.ts'
import { commit, create, type Work } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { isLastAdmin, keepAnAdmin, lastAdminLock } from '../rules/last-admin.ts'
import { revokeSessions } from '../rules/revoke-sessions.ts'
import { followRole, nthChoice, profileFrom, roleBy, usernameFrom } from './decide.ts'

export type Arrival = { identity: Identity; settings: OidcSettings; requestId: string }
export type Account = { username: string; role: Role }

/** The account of a person identified by the provider, created at the first sign-in, with the current role. */
export async function accountOf(deps: Deps, arrival: Arrival): Promise<Account> {
  const username =
    (await linkedTo(deps.pool, arrival.identity)) ?? (await createAccount(deps, arrival))
  const role = roleBy(arrival.identity.claims, arrival.settings)
  await takeRole(deps, username, { role, requestId: arrival.requestId })
  const { rows } = await deps.pool.query<Account>(
    'select username, role from auth.person where username = $1',
    [username],
  )
  if (!rows[0]) throw new Refusal('not_found', `No such user: ${username}`)
  return rows[0]
}

async function linkedTo(
  db: Pool | Transaction,
  { issuer, subject }: Identity,
): Promise<string | null> {
  const { rows } = await db.query<{ username: string }>(
    'select username from auth.identity where issuer = $1 and subject = $2',
    [issuer, subject],
  )
  return rows[0]?.username ?? null
}

const choices = 1000

/** Creates an account under a free name; an existing account with the name is always somebody else's. */
async function createAccount(deps: Deps, arrival: Arrival): Promise<string> {
  const wanted = usernameFrom(arrival.identity.claims)
  const names = Array.from({ length: choices }, (_, index) => nthChoice(wanted, index + 1))
  const { rows } = await deps.pool.query<{ username: string }>(
    'select username from auth.person where username = any($1)',
    [names],
  )
  const taken = new Set(rows.map(row => row.username))
  for (const username of names) {
    if (taken.has(username)) continue
    const { issuer, subject } = arrival.identity
    const owner = await create(deps, causeFor(username, arrival.requestId), userAt(username), {
      // Concurrent first sign-ins create one account.
      locks: [`identity ${issuer} ${subject}`],
      make: work => takeName(work, username, arrival),
    })
    if (owner !== null) return owner
  }
  throw new Refusal('conflict', `Every name like ${wanted} is taken; ask an administrator`)
}

/** Returns the username of the account; null if somebody else has taken the name meanwhile. */
async function takeName(
  work: Work,
  username: string,
  { identity, settings }: Arrival,
): Promise<string | null> {
  const { issuer, subject, claims } = identity
  const linked = await linkedTo(work.tx, identity)
  if (linked !== null) return linked
  const role = roleBy(claims, settings) ?? 'operator'
  const { display_name, email } = profileFrom(claims)
  const { rowCount } = await work.tx.query(
    `insert into auth.person (username, role, display_name, email, created_at)
     values ($1, $2, $3, $4, $5) on conflict do nothing`,
    [username, role, display_name, email, work.now],
  )
  if (rowCount === 0) return null
  await work.tx.query(
    'insert into auth.identity (issuer, subject, username, linked_at) values ($1, $2, $3, $4)',
    [issuer, subject, username, work.now],
  )
  await work.decide(userAt(username), {
    decide: (): UserEvent[] => [
      { type: 'user.created', data: { username, role, auth: 'oidc' } },
      { type: 'user.identity_linked', data: { username, issuer, subject } },
    ],
  })
  return username
}

type TakeRole = {
  /** Null: kept. */
  role: Role | null
  requestId: string
  /** A session that continues under the new role. */
  keep?: string
}

/**
 * Gives a person the role that the provider says; other sessions under the old role end. The last enabled admin stays one,
 * which is logged and recorded.
 */
export async function takeRole(
  deps: Deps,
  username: string,
  { role, requestId, keep }: TakeRole,
): Promise<void> {
  const cause = causeFor(username, requestId)
  try {
    await commit(deps, cause, userAt(username), {
      locks: role === null ? [] : [lastAdminLock],
      decide: user => followRole(user?.role ?? null, { username, role }),
      async alongside(tx, { now }) {
        await tx.query('update auth.person set role = $2 where username = $1', [username, role])
        await keepAnAdmin(tx)
        await revokeSessions(tx, username, { now, ...(keep !== undefined && { except: keep }) })
      },
    })
  } catch (error) {
    if (!isLastAdmin(error)) throw error
    deps.logger.warn({ username }, 'the provider took the role from the last admin, who keeps it')
    await commit(deps, cause, userAt(username), {
      decide: (): UserEvent[] => [{ type: 'user.role_kept', data: { username, role: 'admin' } }],
    })
  }
}

/** Runs in the transaction that opens a session, whose lock on the person's stream delays a disable. */
export async function refuseDisabled(tx: Transaction, username: string): Promise<void> {
  const { rowCount } = await tx.query(
    'select 1 from auth.person where username = $1 and not disabled',
    [username],
  )
  if (rowCount === 0)
    throw new Refusal('forbidden', `The account ${username} is disabled; ask an administrator`, {
      code: 'oidc.disabled',
    })
}

export const causeFor = (username: string, requestId: string): Cause => ({
  actor: { type: 'user', id: username, via: 'oidc' },
  requestId,
})
