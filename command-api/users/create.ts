import type { Person } from '../../auth/caller.ts'
import { madeUpPassword, type Passwords, refuseBadPassword } from '../../auth/passwords.ts'
import { userAt } from '../../events/users.ts'
import { Refusal } from '../../platform/refusal.ts'
import { defaultQuota } from '../../schemas/quotas.ts'
import { type UserInput, userOf } from '../../schemas/users.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { create } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { createUser } from './decide.ts'

export type NewPassword = {
  hash: string
  /** The generated password, to be shown once; null if one was given. */
  shown: string | null
}

/** Checks and hashes the given password, or generates one. */
export async function newPassword(
  passwords: Passwords,
  given: string | null | undefined,
  username: string,
): Promise<NewPassword> {
  const shown = typeof given === 'string' ? null : madeUpPassword()
  if (typeof given === 'string') await refuseBadPassword(given, username)
  return { hash: await passwords.hash(given ?? String(shown)), shown }
}

/** Only a generated password must be replaced at the first sign-in. */
export const generatedAt = ({ shown }: NewPassword, now: Date): Date | null =>
  shown === null ? null : now

type Create = HttpAsked & { caller: Person; body: UserInput }

/** Creates a person; returns them, with the password if it was generated. */
export function insertUser(deps: Deps, request: Create, password: NewPassword) {
  const { username, role, display_name = null, email = null } = request.body
  const target = userAt(username)
  return create(deps, request, target, {
    async make(work) {
      const created_at = work.now
      await work.decide(target, {
        decide: user => createUser(user, { username, role }),
        async alongside(tx) {
          const { rowCount } = await tx.query(
            `insert into auth.person
               (username, role, display_name, email, password_hash, created_at, password_generated_at)
             values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
            [
              username,
              role,
              display_name,
              email,
              password.hash,
              created_at,
              generatedAt(password, created_at),
            ],
          )
          if (rowCount === 0) throw new Refusal('conflict', `User ${username} already exists`)
        },
      })
      const state = { disabled: false, created_at, last_login_at: null, second_factor: false }
      const person = { username, role, display_name, email, auth: 'password' as const, ...state }
      return { ...userOf(person, defaultQuota), password: password.shown }
    },
  })
}
