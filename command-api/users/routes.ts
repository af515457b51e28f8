import type { Passwords } from '../../auth/passwords.ts'
import { type Route, route } from '../../auth/route.ts'
import { userChange, userInput, userPath, userWritten } from '../../schemas/users.ts'
import type { Deps } from '../deps.ts'
import { patchUser } from './change.ts'
import { insertUser, newPassword } from './create.ts'

export const userRoutes = (deps: Deps, passwords: Passwords): Route[] => [
  route({
    method: 'POST',
    path: '/api/admin/users',
    credential: 'admin',
    recentSignIn: true,
    tag: 'admin',
    summary: 'Create a user',
    body: userInput,
    bodyLimitBytes: 16 * 1024,
    response: userWritten,
    refusals: ['conflict', 'rate_limited'],
    async handle(request) {
      const { body } = request
      // Before the transaction, because hashing is slow and may be refused under load.
      const password = await newPassword(passwords, body.password, body.username)
      return insertUser(deps, request, password)
    },
  }),
  route({
    method: 'PATCH',
    path: '/api/admin/users/{username}',
    credential: 'admin',
    recentSignIn: true,
    tag: 'admin',
    summary: "Change a user's role, password or profile; disable or enable them",
    params: userPath,
    body: userChange,
    bodyLimitBytes: 16 * 1024,
    response: userWritten,
    refusals: ['not_found', 'conflict', 'rate_limited'],
    handle: request => patchUser(deps, passwords, request),
  }),
]
