import type { Context } from 'koa'
import type { Person } from '../../auth/caller.ts'
import { type Route, route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  passwordGiven,
  totpBegun,
  totpConfirmation,
  totpSetUp,
} from '../../schemas/second-factors.ts'
import { done } from '../../schemas/sessions.ts'
import { userPath } from '../../schemas/users.ts'
import type { Deps } from '../deps.ts'
import { afterRemoval } from '../rules/second-factors.ts'
import { removeSecondFactors, removeTotp } from './remove.ts'
import { beginTotp, type CodeGuard, confirmTotp } from './set-up.ts'

export type SecondFactorPorts = {
  passwordGuard: CodeGuard
  /** Refuses unless it is the caller's current password. */
  confirmPassword: (of: { caller: Person; password: string; ctx: Context }) => Promise<unknown>
}

/** Specification, "Limits": as often as a password may be changed. */
const attempts = { name: 'second-factor', points: 10, windowSeconds: 60 }
const bodyLimitBytes = 16 * 1024

export const secondFactorRoutes = (deps: Deps, ports: SecondFactorPorts): Route[] => [
  ...setUpRoutes(deps, ports),
  ...removalRoutes(deps, ports),
]

const setUpRoutes = (
  deps: Deps,
  { passwordGuard, confirmPassword }: SecondFactorPorts,
): Route[] => [
  route({
    method: 'POST',
    path: '/api/auth/totp',
    credential: 'person',
    recentSignIn: true,
    whileLimited: 'factor',
    tag: 'auth',
    summary: 'Begin to set up an authenticator as your second factor, or another one in its place',
    body: passwordGiven,
    bodyLimitBytes,
    rateLimit: attempts,
    response: totpBegun,
    refusals: ['conflict', 'rate_limited', 'not_configured'],
    async handle({ caller, body, ctx }) {
      refuseBesideProvider(deps)
      await confirmPassword({ caller, password: body.password, ctx })
      return beginTotp(deps, caller.username)
    },
  }),
  route({
    method: 'POST',
    path: '/api/auth/totp/confirm',
    credential: 'person',
    whileLimited: 'factor',
    tag: 'auth',
    summary: 'Confirm the authenticator with a code of it; your other sessions end',
    body: totpConfirmation,
    bodyLimitBytes,
    rateLimit: attempts,
    response: totpSetUp,
    refusals: ['conflict', 'rate_limited', 'not_configured'],
    async handle(request) {
      refuseBesideProvider(deps)
      return confirmTotp(deps, passwordGuard, request)
    },
  }),
]

const removalRoutes = (deps: Deps, { confirmPassword }: SecondFactorPorts): Route[] => [
  route({
    method: 'POST',
    path: '/api/auth/totp/remove',
    credential: 'person',
    recentSignIn: true,
    tag: 'auth',
    summary: 'Remove your authenticator; the recovery codes go with your last second factor',
    body: passwordGiven,
    bodyLimitBytes,
    rateLimit: attempts,
    response: done,
    refusals: ['conflict', 'rate_limited', 'not_configured'],
    async handle(request) {
      const { caller, body, ctx } = request
      refuseBesideProvider(deps)
      await confirmPassword({ caller, password: body.password, ctx })
      await removeTotp(deps, request, caller.username, tx => afterRemoval(deps, tx, caller))
      return { ok: true }
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/admin/users/{username}/second-factor',
    credential: 'admin',
    recentSignIn: true,
    tag: 'admin',
    summary: 'Remove the second factor of somebody who lost it',
    params: userPath,
    response: done,
    refusals: ['not_found', 'conflict'],
    async handle(request) {
      const { caller, params } = request
      // A stolen access token must not open the way for the password alone.
      if (params.username === caller.username)
        throw new Refusal(
          'conflict',
          'Remove your own second factor with your password: POST /api/auth/totp/remove',
        )
      await removeSecondFactors(deps, request, params.username)
      return { ok: true }
    },
  }),
]

/** With an identity provider, nobody signs in with a password. */
function refuseBesideProvider({ config: { oidc } }: Deps): void {
  if (oidc)
    throw new Refusal('not_configured', `${oidc.name} asks for second factors; set one up there`)
}
