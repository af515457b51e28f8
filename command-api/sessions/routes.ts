import type { Context } from 'koa'
import { type Route, route } from '../../auth/route.ts'
import { refuseForeignOrigin } from '../../platform/http/origin.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  confirmInput,
  done,
  loginInput,
  loginReply,
  passwordInput,
  refreshReply,
  sessionInPath,
} from '../../schemas/sessions.ts'
import type { Asked } from '../commit/asked.ts'
import type { Deps } from '../deps.ts'
import { changePassword } from './change-password.ts'
import { confirmSession } from './confirm-session.ts'
import { endSession } from './end-session.ts'
import { rememberNetwork } from './known-networks.ts'
import { logout } from './logout.ts'
import { openSession } from './open-session.ts'
import type { SignInPorts } from './password-guard.ts'
import { type ConfirmSession, refresh } from './refresh.ts'
import { type CheckSecondFactor, type SecondFactor, withoutFactor } from './second-factor.ts'
import { isStillValid } from './stored-password.ts'

type PersonRow = {
  role: 'admin' | 'operator'
  password_hash: string | null
  password_generated_at: Date | null
  disabled: boolean
}

/** Specification, "Limits"; successful sign-ins count too. */
const signInAttempts = { name: 'login', points: 10, windowSeconds: 60 }
/** A separate count: people who mistype their password while changing it can still sign in. */
const passwordChanges = { ...signInAttempts, name: 'password' }
const confirmations = { ...signInAttempts, name: 'confirm' }
/** What a passkey signs takes most of it. */
const bodyLimitBytes = 48 * 1024
/** How long a generated password signs in before its person has replaced it, in milliseconds. */
const generatedForMs = 24 * 3_600_000

export type SessionPorts = SignInPorts & {
  confirm: ConfirmSession
  checkSecondFactor: CheckSecondFactor
}

export const sessionRoutes = (deps: Deps, ports: SessionPorts): Route[] => [
  ...signInRoutes(deps, ports),
  ...ownSessionRoutes(deps, ports),
]

const signInRoutes = (deps: Deps, ports: SessionPorts): Route[] => [
  route({
    method: 'POST',
    path: '/api/auth/login',
    credential: 'none',
    tag: 'auth',
    summary: 'Sign in with a password, and a code or a passkey if you have a second factor',
    body: loginInput,
    bodyLimitBytes,
    rateLimit: signInAttempts,
    servedOnFullDisk: true,
    response: loginReply,
    refusals: ['unauthenticated', 'forbidden', 'rate_limited', 'not_configured'],
    async handle(request) {
      const { body, requestId, ctx } = request
      // Otherwise another page could silently sign this browser in as somebody else.
      refuseForeignOrigin(ctx, deps.baseUrl())
      refuseBesideProvider(deps, 'Password login is disabled')
      const { username } = body
      const { person, factor } = await proveIdentity(deps, ports, request)
      const { role, password_hash } = person
      const { token } = await openSession(deps, {
        username,
        role,
        via: 'password',
        requestId,
        ctx,
        besides: factor.events,
        async alongside(tx) {
          // It may have been reset during the slow check, and no session may be opened after that.
          if (!(await isStillValid(tx, { username, hash: password_hash }))) throw wrongPassword()
          await factor.use(tx)
          await rememberNetwork(tx, { username, ctx, now: deps.now() })
        },
      })
      return { token, user: { username, role } }
    },
  }),
  route({
    method: 'POST',
    path: '/api/auth/refresh',
    credential: 'refresh',
    tag: 'auth',
    summary: 'A new access token, and the next refresh token as cookie',
    servedOnFullDisk: true,
    response: refreshReply,
    refusals: ['unauthenticated', 'forbidden', 'backend_failed'],
    handle: request => refresh(deps, ports.confirm, request),
  }),
  route({
    method: 'POST',
    path: '/api/auth/logout',
    credential: 'session',
    whileLimited: 'either',
    tag: 'auth',
    summary: 'End the session, its access and refresh tokens, at once',
    servedOnFullDisk: true,
    response: done,
    refusals: ['unauthenticated', 'forbidden'],
    async handle(request) {
      await logout(deps, request)
      return { ok: true }
    },
  }),
]

/** What routes that need the person's password have in common. */
const aboutPassword = {
  method: 'POST',
  credential: 'person',
  tag: 'auth',
  bodyLimitBytes,
  response: done,
  refusals: ['conflict', 'rate_limited', 'not_configured'],
} as const

const ownSessionRoutes = (deps: Deps, ports: SessionPorts): Route[] => [
  route({
    method: 'DELETE',
    path: '/api/auth/sessions/{sid}',
    credential: 'person',
    recentSignIn: true,
    reach: 'self',
    tag: 'auth',
    summary: 'End one of your own sessions',
    params: sessionInPath,
    response: done,
    refusals: ['not_found'],
    async handle(request) {
      const { caller, params } = request
      const { username } = caller
      const { sid } = params
      const otherwise = new Refusal('not_found', `No such session: ${sid}`)
      await endSession(deps, request, { username, sid, as: 'user.session_revoked', otherwise })
      return { ok: true }
    },
  }),
  route({
    ...aboutPassword,
    path: '/api/auth/confirm',
    whileLimited: 'either',
    summary:
      'Confirm your password, and a code or a passkey if you have a second factor, for requests that need a recent sign-in',
    body: confirmInput,
    rateLimit: confirmations,
    servedOnFullDisk: true,
    async handle(request) {
      refuseBesideProvider(deps, 'Passwords are disabled')
      await confirmSession(deps, ports, request)
      return { ok: true }
    },
  }),
  route({
    ...aboutPassword,
    path: '/api/auth/password',
    whileLimited: 'password',
    summary: 'Change your own password; your other sessions end',
    body: passwordInput,
    rateLimit: passwordChanges,
    async handle(request) {
      refuseBesideProvider(deps, 'Passwords are disabled')
      await changePassword(deps, ports, request)
      return { ok: true }
    },
  }),
]

type SigningIn = Asked & {
  body: { username: string; password: string; code?: string; passkey?: unknown }
  ctx: Context
}

/** The person whose password, and second factor if they have one, are right. Every other attempt is refused and counts as a failure. */
async function proveIdentity(
  deps: Deps,
  { passwords, passwordGuard, checkSecondFactor }: SessionPorts,
  request: SigningIn,
): Promise<{ person: PersonRow; factor: SecondFactor & { is: 'right' } }> {
  const {
    body: { username, password, ...given },
    ctx,
  } = request
  let person: PersonRow | undefined
  let factor: SecondFactor | undefined
  let hasExpired = false
  const isRight = await passwordGuard.isRight({ username, ctx }, async () => {
    person = await findPerson(deps, username)
    const matches = await passwords.matches(password, person?.password_hash ?? null)
    if (!person) return 'unknown'
    if (!matches || person.disabled) return 'wrong'
    hasExpired = isExpired(person, deps.now())
    if (hasExpired) return 'wrong'
    factor = await checkSecondFactor(request, { username, sid: null, ...given })
    return factor.is === 'wrong' || factor.is === 'locked' ? 'wrong' : 'right'
  })
  if (hasExpired) throw passwordExpired()
  if (factor && factor.is !== 'right') throw withoutFactor(factor, given)
  if (!isRight || !person || !factor) throw wrongPassword()
  return { person, factor }
}

const isExpired = ({ password_generated_at: at }: PersonRow, now: Date): boolean =>
  at !== null && now.getTime() - at.getTime() > generatedForMs

const passwordExpired = () =>
  new Refusal(
    'unauthenticated',
    'This generated password was valid for 24 hours, and was not replaced; ask an administrator for another',
    { code: 'password.expired', hint: 'on the host, forge admin reset-password' },
  )

const wrongPassword = () => new Refusal('unauthenticated', 'Username or password is wrong')

/** With an identity provider, password sign-in is disabled. */
function refuseBesideProvider({ config }: Deps, what: string): void {
  if (config.oidc) throw new Refusal('not_configured', `${what}; sign in with ${config.oidc.name}`)
}

async function findPerson(deps: Deps, username: string): Promise<PersonRow | undefined> {
  const { rows } = await deps.pool.query<PersonRow>(
    'select role, password_hash, password_generated_at, disabled from auth.person where username = $1',
    [username],
  )
  return rows[0]
}
