import type { Person } from '../../auth/caller.ts'
import { madeUpPassword, type Passwords, refuseBadPassword } from '../../auth/passwords.ts'
import { type UserEvent, userAt } from '../../events/users.ts'
import { streamPosition } from '../../platform/position.ts'
import { Refusal } from '../../platform/refusal.ts'
import { defaultQuota } from '../../schemas/quotas.ts'
import { type UserInput, userOf } from '../../schemas/users.ts'
import { type Deps, stampOf } from '../deps.ts'
import type { Transaction } from '../event-store.ts'
import { lockStream } from '../handle.ts'
import type { Created } from '../idempotency.ts'
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

type Create = { caller: Person; body: UserInput; requestId: string; password: NewPassword }

/** Creates a person in the caller's transaction; returns them with the generated password, if any. */
export async function insertUser(
  deps: Deps,
  request: Create,
  tx: Transaction,
): Promise<Created<unknown>> {
  const { body, password } = request
  const { username, role } = body
  const stamp = stampOf(request, deps.now())
  const { stream, aggregate } = userAt(username)
  await lockStream(tx, stream)
  const loaded = await deps.store.load<UserEvent>(stream, tx)
  const events = createUser(loaded.events.reduce(aggregate.evolve, aggregate.initial), {
    username,
    role,
  })
  const person = {
    username,
    role,
    display_name: body.display_name ?? null,
    email: body.email ?? null,
    disabled: false,
    created_at: stamp.now,
    last_login_at: null,
    auth: 'password' as const,
  }
  const { rowCount } = await tx.query(
    `insert into auth.person (username, role, display_name, email, password_hash, created_at)
     values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
    [username, role, person.display_name, person.email, password.hash, stamp.now],
  )
  if (rowCount === 0) throw new Refusal('conflict', `There is a user ${username} already`)
  await deps.store.append(tx, { stream, expectedVersion: loaded.version, events, stamp })
  return {
    answer: { ...userOf(person, defaultQuota), password: password.shown },
    position: streamPosition(stream, loaded.version + events.length),
  }
}
