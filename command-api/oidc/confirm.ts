import type { IdentityProvider } from '../../auth/identity-provider.ts'
import type { OidcSettings } from '../../auth/oidc-settings.ts'
import { openProviderToken, sealProviderToken } from '../../auth/provider-token.ts'
import { type UserEvent, userAt } from '../../events/users.ts'
import { Refusal } from '../../platform/refusal.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { causeFor, takeRole } from './account.ts'
import { roleAtRefresh } from './decide.ts'

export type Configured = { settings: OidcSettings; provider: IdentityProvider }
export type Refreshing = { sid: string; username: string; requestId: string }

/** Throws if the identity provider no longer vouches for the person whose session is being refreshed. */
export type ConfirmSignIn = (refreshing: Refreshing) => Promise<void>

type SessionRow = {
  provider_token: Buffer | null
  confirmed_at: Date
  subject: string | null
}

/** Nobody is asked about more often than this, in milliseconds. */
const askEveryMs = 60_000

/**
 * Asks the provider, if it gave a refresh token, whether the person may still sign in and which role they have. A
 * session that it has not vouched for within `SERVICE_OIDC_SESSION_HOURS`, for whatever reason, is not refreshed.
 */
export function signInConfirmer(deps: Deps, configured: Configured | null): ConfirmSignIn {
  if (configured === null) return async () => {}
  const { settings } = configured
  return async refreshing => {
    const session = await findSession(deps, refreshing.sid, settings)
    const failure = session && (await whyUnconfirmed(deps, configured, { ...refreshing, session }))
    if (!session || !failure) return
    const ageMs = deps.now().getTime() - session.confirmed_at.getTime()
    if (ageMs >= settings.sessionHours * 3_600_000) throw failure
    deps.logger.debug(
      { err: failure },
      'a session continues unconfirmed: the provider did not respond',
    )
  }
}

type Confirming = Refreshing & { session: SessionRow }

/** Null if the provider vouches for the person now. Throws if it says that it does not. */
async function whyUnconfirmed(
  deps: Deps,
  configured: Configured,
  { session, ...refreshing }: Confirming,
): Promise<Refusal | null> {
  const { settings } = configured
  const { provider_token, subject } = session
  const sealing = { clientSecret: settings.clientSecret, username: refreshing.username }
  const token = provider_token && openProviderToken(provider_token, sealing)
  if (token === null || subject === null) return signInAgain(settings)
  if (!(await takeTurn(deps, refreshing.sid))) return unconfirmed(settings)
  try {
    return await ask(deps, configured, { ...refreshing, token, subject })
  } catch (error) {
    if (error instanceof Refusal && error.code === 'backend_failed') return error
    throw error
  }
}

type Asking = Refreshing & { token: string; subject: string }

async function ask(
  deps: Deps,
  { settings, provider }: Configured,
  asking: Asking,
): Promise<Refusal | null> {
  const { sid, username, requestId, token, subject } = asking
  const answer = await provider.confirm(token, subject)
  if (answer === null) {
    await withdraw(deps, asking)
    throw signInAgain(settings)
  }
  const { role, isKnown } = roleAtRefresh(answer, settings)
  const next = answer.refreshToken ?? token
  await deps.pool.query(
    `update auth.session set provider_token = $2, confirmed_at = case when $3 then $4 else confirmed_at end
      where sid = $1`,
    [sid, sealProviderToken(next, { ...settings, username }), isKnown, deps.now()],
  )
  await takeRole(deps, username, { role, requestId, keep: sid })
  return isKnown ? null : unconfirmed(settings)
}

/** Only one of several concurrent requests asks, because some providers accept a refresh token only once. */
async function takeTurn({ pool, now }: Deps, sid: string): Promise<boolean> {
  const at = now()
  const { rowCount } = await pool.query(
    'update auth.session set asked_at = $2 where sid = $1 and (asked_at is null or asked_at < $3)',
    [sid, at, new Date(at.getTime() - askEveryMs)],
  )
  return rowCount === 1
}

async function findSession(
  { pool }: Deps,
  sid: string,
  { issuer }: OidcSettings,
): Promise<SessionRow | undefined> {
  const { rows } = await pool.query<SessionRow>(
    `select provider_token, coalesce(confirmed_at, s.created_at) as confirmed_at, subject
       from auth.session s left join auth.identity i on i.username = s.username and i.issuer = $2
      where sid = $1 and via = 'oidc'`,
    [sid, issuer],
  )
  return rows[0]
}

async function withdraw(deps: Deps, { sid, username, requestId }: Refreshing): Promise<void> {
  await commit(deps, causeFor(username, requestId), userAt(username), {
    decide: (): UserEvent[] => [{ type: 'user.session_withdrawn', data: { username, sid } }],
    alongside: (tx, { now }) =>
      tx.query('update auth.session set revoked_at = coalesce(revoked_at, $2) where sid = $1', [
        sid,
        now,
      ]),
  })
}

const signInAgain = ({ name }: OidcSettings) =>
  new Refusal('unauthenticated', `${name} no longer confirms this sign-in; sign in again`)

const unconfirmed = ({ name }: OidcSettings) =>
  new Refusal(
    'backend_failed',
    `The identity provider ${name} has not confirmed this sign-in; try again in a minute`,
    { code: 'oidc.unconfirmed' },
  )
