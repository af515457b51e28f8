import type { Passwords } from '../../auth/passwords.ts'
import { refuseOldSignIn } from '../../auth/recent-sign-in.ts'
import { type Route, route } from '../../auth/route.ts'
import { userChange, userInput, userPath, userWritten } from '../../schemas/users.ts'
import type { Deps } from '../deps.ts'
import { patchUser } from './change.ts'
import { insertUser, newPassword } from './create.ts'

/** A stolen access token must not suffice to make administrators, or to take or close somebody's account. */
export function userRoutes(deps: Deps, passwords: Passwords): Route[] {
  const signIn = { pool: deps.pool, now: deps.now, providerName: deps.config.oidc?.name ?? null }
  return [
    route({
      method: 'POST',
      path: '/api/admin/users',
      credential: 'admin',
      tag: 'admin',
      summary: 'Create a user',
      body: userInput,
      bodyLimitBytes: 16 * 1024,
      response: userWritten,
      refusals: ['conflict', 'rate_limited'],
      async handle(request) {
        const { body, caller } = request
        if (body.role === 'admin') await refuseOldSignIn(signIn, caller)
        // Before the transaction, because hashing is slow and may be refused under load.
        const password = await newPassword(passwords, body.password, body.username)
        return insertUser(deps, request, password)
      },
    }),
    route({
      method: 'PATCH',
      path: '/api/admin/users/{username}',
      credential: 'admin',
      tag: 'admin',
      summary: "Change a user's role, password or profile; disable or enable them",
      params: userPath,
      body: userChange,
      bodyLimitBytes: 16 * 1024,
      response: userWritten,
      refusals: ['not_found', 'conflict', 'rate_limited'],
      async handle(request) {
        const { role, disabled, password } = request.body
        if ([role, disabled, password].some(given => given !== undefined))
          await refuseOldSignIn(signIn, request.caller)
        return patchUser(deps, passwords, request)
      },
    }),
  ]
}
