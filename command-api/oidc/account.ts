import type { Identity } from '../../auth/identity-provider.ts'
import type { OidcSettings } from '../../auth/oidc-settings.ts'
import { type Role, type UserEvent, userAt } from '../../events/users.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Deps } from '../deps.ts'
import type { Stamp, Transaction } from '../event-store.ts'
import { handle, lockStream } from '../handle.ts'
import { revokeSessions } from '../revoke-sessions.ts'
import { followRole, nthChoice, profileFrom, roleBy, usernameFrom } from './decide.ts'

export type Arrival = { identity: Identity; settings: OidcSettings; requestId: string }
export type Account = { username: string; role: Role }

/** The account of a person identified by the provider, created at the first sign-in, with the current role. */
export async function accountOf(deps: Deps, arrival: Arrival): Promise<Account> {
  const username = await deps.store.transaction(tx => findOrCreate(deps, tx, arrival))
  await takeRole(deps, username, arrival)
  const { rows } = await deps.pool.query<Account>(
    'select username, role from auth.person where username = $1',
    [username],
  )
  if (!rows[0]) throw new Refusal('not_found', `No such user: ${username}`)
  return rows[0]
}

async function findOrCreate(deps: Deps, tx: Transaction, arrival: Arrival): Promise<string> {
  const { issuer, subject } = arrival.identity
  // Concurrent first sign-ins create one account.
  await lockStream(tx, `identity ${issuer} ${subject}`)
  const { rows } = await tx.query<{ username: string }>(
    'select username from auth.identity where issuer = $1 and subject = $2',
    [issuer, subject],
  )
  return rows[0]?.username ?? (await create(deps, tx, arrival))
}

async function create(deps: Deps, tx: Transaction, arrival: Arrival): Promise<string> {
  const { identity, settings } = arrival
  const { issuer, subject, claims } = identity
  const role = roleBy(claims, settings) ?? 'operator'
  const now = deps.now()
  const username = await insertPerson(tx, { claims, role, now })
  await tx.query(
    'insert into auth.identity (issuer, subject, username, linked_at) values ($1, $2, $3, $4)',
    [issuer, subject, username, now],
  )
  const { stream } = userAt(username)
  const { version } = await deps.store.load<UserEvent>(stream, tx)
  const events: UserEvent[] = [
    { type: 'user.created', data: { username, role, auth: 'oidc' } },
    { type: 'user.identity_linked', data: { username, issuer, subject } },
  ]
  const stamp = stampFor(username, arrival, now)
  await deps.store.append(tx, { stream, expectedVersion: version, events, stamp })
  return username
}

const choices = 1000

/** Creates an account under a free name; an existing account with the name is always somebody else's. */
async function insertPerson(
  tx: Transaction,
  { claims, role, now }: { claims: Identity['claims']; role: Role; now: Date },
): Promise<string> {
  const { display_name, email } = profileFrom(claims)
  for (let n = 1; n <= choices; n++) {
    const username = nthChoice(usernameFrom(claims), n)
    // Lock before inserting, in the same order as the creation by an administrator, or the two deadlock.
    await lockStream(tx, userAt(username).stream)
    const { rowCount } = await tx.query(
      `insert into auth.person (username, role, display_name, email, created_at)
       values ($1, $2, $3, $4, $5) on conflict do nothing`,
      [username, role, display_name, email, now],
    )
    if (rowCount === 1) return username
  }
  throw new Refusal('conflict', `All names like ${usernameFrom(claims)} are taken`)
}

/** The provider decides the role at each sign-in; sessions under the old role end. */
async function takeRole(deps: Deps, username: string, arrival: Arrival): Promise<void> {
  const role = roleBy(arrival.identity.claims, arrival.settings)
  const now = deps.now()
  const { events } = await handle(
    deps.store,
    {
      ...userAt(username),
      stamp: stampFor(username, arrival, now),
      reserve: async tx => {
        await tx.query('update auth.person set role = $2 where username = $1', [username, role])
        await revokeSessions(tx, username, { now })
      },
    },
    user => followRole(user?.role ?? null, { username, role }),
  )
  if (events.length > 0) deps.accessChanged(username)
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

const stampFor = (username: string, { requestId }: Arrival, now: Date): Stamp => ({
  actor: { type: 'user', id: username, via: 'oidc' },
  requestId,
  now,
})
