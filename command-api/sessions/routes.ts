import type { Passwords } from '../../platform/auth/passwords.ts'
import { type Route, route } from '../../platform/http/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import { done, loginInput, loginReply, passwordInput } from '../../schemas/sessions.ts'
import type { Deps } from '../deps.ts'
import { changePassword } from './change-password.ts'
import { openSession } from './open-session.ts'

type PersonRow = { role: 'admin' | 'operator'; password_hash: string | null; disabled: boolean }

/** Specification, "Limits"; successful sign-ins count too. */
const signInAttempts = { name: 'login', points: 10, windowSeconds: 60 }

export const sessionRoutes = (deps: Deps, passwords: Passwords): Route[] => [
  route({
    method: 'POST',
    path: '/api/auth/login',
    credential: 'none',
    tag: 'auth',
    summary: 'Sign in with a password',
    body: loginInput,
    bodyLimitBytes: 16 * 1024,
    rateLimit: signInAttempts,
    response: loginReply,
    refusals: ['unauthenticated', 'rate_limited'],
    async handle({ body, requestId, ctx }) {
      const { username } = body
      const person = await findPerson(deps, username)
      const matches = await passwords.matches(body.password, person?.password_hash ?? null)
      if (!matches || !person || person.disabled)
        throw new Refusal('unauthenticated', 'Username or password is wrong')
      const { role } = person
      const { token } = await openSession(deps, { username, role, via: 'password', requestId, ctx })
      return { token, user: { username, role } }
    },
  }),
  route({
    method: 'POST',
    path: '/api/auth/password',
    credential: 'person',
    tag: 'auth',
    summary: 'Change your own password; your other sessions end',
    body: passwordInput,
    bodyLimitBytes: 16 * 1024,
    response: done,
    refusals: ['conflict', 'rate_limited'],
    async handle(request) {
      await changePassword(deps, passwords, request)
      return { ok: true }
    },
  }),
]

async function findPerson(deps: Deps, username: string): Promise<PersonRow | undefined> {
  const { rows } = await deps.pool.query<PersonRow>(
    'select role, password_hash, disabled from auth.person where username = $1',
    [username],
  )
  return rows[0]
}
