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
import type { Deps } from '../deps.ts'
import { changePassword } from './change-password.ts'
import { confirmSession } from './confirm-session.ts'
import { endSession } from './end-session.ts'
import { rememberNetwork } from './known-networks.ts'
import { logout } from './logout.ts'
import { openSession } from './open-session.ts'
import type { SignInPorts } from './password-guard.ts'
import { type ConfirmSession, refresh } from './refresh.ts'
import { type CheckSecondFactor, type SecondFactor, withoutCode } from './second-factor.ts'
import { isStillValid } from './stored-password.ts'

type PersonRow = { role: 'admin' | 'operator'; password_hash: string | null; disabled: boolean }

/** Specification, "Limits"; successful sign-ins count too. */
const signInAttempts = { name: 'login', points: 10, windowSeconds: 60 }
/** A separate count: people who mistype their password while changing it can still sign in. */
const passwordChanges = { ...signInAttempts, name: 'password' }
const confirmations = { ...signInAttempts, name: 'confirm' }

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
    summary: 'Sign in with a password, and a code if you have a second factor',
    body: loginInput,
    bodyLimitBytes: 16 * 1024,
    rateLimit: signInAttempts,
    servedOnFullDisk: true,
    response: loginReply,
    refusals: ['unauthenticated', 'forbidden', 'rate_limited', 'not_configured'],
    async handle({ body, requestId, ctx }) {
      // Otherwise another page could silently sign this browser in as somebody else.
      refuseForeignOrigin(ctx, deps.baseUrl())
      refuseBesideProvider(deps, 'Password login is disabled')
      const { username } = body
      const { person, factor } = await proveIdentity(deps, ports, { ...body, ctx })
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
    withoutSecondFactor: true,
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
  bodyLimitBytes: 16 * 1024,
  response: done,
  refusals: ['conflict', 'rate_limited', 'not_configured'],
} as const

const ownSessionRoutes = (deps: Deps, ports: SessionPorts): Route[] => [
  route({
    method: 'DELETE',
    path: '/api/auth/sessions/{sid}',
    credential: 'person',
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
    summary:
      'Confirm your password, and a code if you have a second factor, for requests that need a recent sign-in',
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

type Given = { username: string; password: string; code?: string; ctx: Context }

/** The person whose password, and code if they have a second factor, are right. Every other attempt is refused and counts as a failure. */
async function proveIdentity(
  deps: Deps,
  { passwords, passwordGuard, checkSecondFactor }: SessionPorts,
  { username, password, code, ctx }: Given,
): Promise<{ person: PersonRow; factor: SecondFactor & { is: 'right' } }> {
  let person: PersonRow | undefined
  let factor: SecondFactor | undefined
  const isRight = await passwordGuard.isRight({ username, ctx }, async () => {
    person = await findPerson(deps, username)
    const matches = await passwords.matches(password, person?.password_hash ?? null)
    if (!person) return 'unknown'
    if (!matches || person.disabled) return 'wrong'
    factor = await checkSecondFactor(username, code)
    return factor.is === 'wrong' || factor.is === 'locked' ? 'wrong' : 'right'
  })
  if (factor && factor.is !== 'right') throw withoutCode(factor.is)
  if (!isRight || !person || !factor) throw wrongPassword()
  return { person, factor }
}

const wrongPassword = () => new Refusal('unauthenticated', 'Username or password is wrong')

/** With an identity provider, password sign-in is disabled. */
function refuseBesideProvider({ config }: Deps, what: string): void {
  if (config.oidc) throw new Refusal('not_configured', `${what}; sign in with ${config.oidc.name}`)
}

async function findPerson(deps: Deps, username: string): Promise<PersonRow | undefined> {
  const { rows } = await deps.pool.query<PersonRow>(
    'select role, password_hash, disabled from auth.person where username = $1',
    [username],
  )
  return rows[0]
}
