import type { Person } from '../../auth/caller.ts'
import { type Route, route } from '../../auth/route.ts'
import { type UserEvent, userAt } from '../../events/users.ts'
import { refuseForeignOrigin } from '../../platform/http/origin.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  passkeyInPath,
  passkeyInput,
  passkeyOptions,
  passkeyProof,
  passkeyRegistered,
} from '../../schemas/passkeys.ts'
import { done, loginReply } from '../../schemas/sessions.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { afterRemoval } from '../rules/second-factors.ts'
import type { ChallengeOf } from './challenges.ts'
import type { PasskeyPorts } from './ports.ts'
import { beginProof, prove } from './prove.ts'
import { beginRegistration, register } from './register.ts'
import { relyingParty } from './relying-party.ts'

/** As often as somebody may try to sign in with a password (specification, "Limits"). */
const attempts = { name: 'passkey', points: 10, windowSeconds: 60 }
/** A browser asks for options each time that a passkey is offered. */
const beginnings = { name: 'passkey-options', points: 30, windowSeconds: 60 }
const bodyLimitBytes = 48 * 1024

const ofSignIn: ChallengeOf = { sid: null, username: null }
const ofSession = ({ sid }: Person): ChallengeOf => ({ sid, username: null })

export const passkeyRoutes = (deps: Deps, ports: PasskeyPorts): Route[] => [
  ...ownRoutes(deps),
  ...signInRoutes(deps, ports),
  ...confirmRoutes(deps, ports),
]

const ownRoutes = (deps: Deps): Route[] => [
  route({
    method: 'POST',
    path: '/api/auth/passkeys/options',
    credential: 'person',
    recentSignIn: true,
    whileLimited: 'factor',
    tag: 'auth',
    summary: 'Begin to register a passkey: what a browser needs in order to make it',
    rateLimit: beginnings,
    response: passkeyOptions,
    refusals: ['rate_limited', 'not_configured'],
    handle: ({ caller }) => beginRegistration(deps, caller),
  }),
  route({
    method: 'POST',
    path: '/api/auth/passkeys',
    credential: 'person',
    recentSignIn: true,
    whileLimited: 'factor',
    tag: 'auth',
    summary:
      'Register the passkey that the browser made; with your first second factor, your other sessions end',
    body: passkeyInput,
    bodyLimitBytes,
    rateLimit: attempts,
    response: passkeyRegistered,
    refusals: ['invalid', 'conflict', 'rate_limited', 'not_configured'],
    handle: request => register(deps, request),
  }),
  route({
    method: 'DELETE',
    path: '/api/auth/passkeys/{passkey_id}',
    credential: 'person',
    recentSignIn: true,
    reach: 'self',
    tag: 'auth',
    summary: 'Remove one of your own passkeys',
    params: passkeyInPath,
    response: done,
    refusals: ['not_found', 'conflict'],
    async handle(request) {
      const { username } = request.caller
      const { passkey_id } = request.params
      await commit(deps, request, userAt(username), {
        decide: (): UserEvent[] => [
          { type: 'user.passkey_removed', data: { username, passkey_id } },
        ],
        async alongside(tx) {
          const { rowCount } = await tx.query(
            'delete from auth.passkey where passkey_id = $1 and username = $2',
            [passkey_id, username],
          )
          if (rowCount === 0) throw new Refusal('not_found', `No such passkey: ${passkey_id}`)
          await afterRemoval(deps, tx, request.caller)
        },
      })
      return { ok: true }
    },
  }),
]

const signInRoutes = (deps: Deps, { openPasskeySession }: PasskeyPorts): Route[] => [
  route({
    method: 'POST',
    path: '/api/auth/passkeys/sign-in/options',
    credential: 'none',
    tag: 'auth',
    summary: 'Begin to sign in with a passkey: the challenge that it signs',
    rateLimit: beginnings,
    response: passkeyOptions,
    refusals: ['forbidden', 'rate_limited', 'not_configured'],
    handle: ({ ctx }) => {
      refuseForeignOrigin(ctx, deps.baseUrl())
      return beginProof(deps, ofSignIn)
    },
  }),
  route({
    method: 'POST',
    path: '/api/auth/passkeys/sign-in',
    credential: 'none',
    tag: 'auth',
    summary: 'Sign in with a passkey, without password and code',
    body: passkeyProof,
    bodyLimitBytes,
    rateLimit: attempts,
    response: loginReply,
    refusals: ['unauthenticated', 'forbidden', 'rate_limited', 'not_configured'],
    async handle(request) {
      const { body, requestId, ctx } = request
      // Otherwise another page could silently sign this browser in as somebody else.
      refuseForeignOrigin(ctx, deps.baseUrl())
      relyingParty(deps)
      const { username, role, use } = await prove(deps, request, { of: ofSignIn, ...body })
      const { token } = await openPasskeySession({ username, role, requestId, ctx, alongside: use })
      return { token, user: { username, role } }
    },
  }),
]

const confirmRoutes = (deps: Deps, { confirmOwnSession }: PasskeyPorts): Route[] => [
  route({
    method: 'POST',
    path: '/api/auth/passkeys/confirm/options',
    credential: 'person',
    tag: 'auth',
    summary: 'Begin to confirm your session with a passkey',
    rateLimit: beginnings,
    response: passkeyOptions,
    refusals: ['rate_limited', 'not_configured'],
    handle: ({ caller }) => beginProof(deps, ofSession(caller)),
  }),
  route({
    method: 'POST',
    path: '/api/auth/passkeys/confirm',
    credential: 'person',
    tag: 'auth',
    summary: 'Confirm your session with a passkey, for requests that need a recent sign-in',
    body: passkeyProof,
    bodyLimitBytes,
    rateLimit: attempts,
    response: done,
    refusals: ['invalid', 'rate_limited', 'not_configured'],
    async handle(request) {
      const { caller, body } = request
      // Not 401: the session itself is valid.
      const proven = await prove(deps, request, { of: ofSession(caller), ...body }).catch(asInvalid)
      if (proven.username !== caller.username) throw notTheirs(caller.username)
      await confirmOwnSession(request, proven.use)
      return { ok: true }
    },
  }),
]

const code = 'passkey.refused'

function asInvalid(error: unknown): never {
  if (!(error instanceof Refusal) || error.code !== 'unauthenticated') throw error
  throw new Refusal('invalid', error.message, { code })
}

const notTheirs = (username: string) =>
  new Refusal('invalid', `This passkey is not one of ${username}`, { code })
