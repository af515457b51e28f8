import type { Person } from '../../auth/caller.ts'
import type { Passwords } from '../../auth/passwords.ts'
import { type UserEvent, userAt } from '../../events/users.ts'
import { Refusal } from '../../platform/refusal.ts'
import { type PersonRow, type User, type UserChange, userOf } from '../../schemas/users.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { commit } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { forgetPasskeys } from '../rules/forget-passkeys.ts'
import { endExternalIngestTokens } from '../rules/ingest-tokens.ts'
import { keepAnAdmin, lastAdminLock } from '../rules/last-admin.ts'
import { quotaOf } from '../rules/quota-of.ts'
import { revokeSessions } from '../rules/revoke-sessions.ts'
import { generatedAt, type NewPassword, newPassword } from './create.ts'
import { changeUser } from './decide.ts'

export type PatchUser = HttpAsked & {
  caller: Person
  params: { username: string }
  body: UserChange
}

type Effect = {
  caller: Person
  body: UserChange
  password: NewPassword | null
  now: Date
}

/**
 * Changes a person and ends affected sessions, in one transaction. Returns the person, and the password if one was
 * generated.
 */
export async function patchUser(
  deps: Deps,
  passwords: Passwords,
  request: PatchUser,
): Promise<User & { password: string | null }> {
  const { caller, body } = request
  const { username } = request.params
  const before = await readPerson(deps, username)
  const resetsPassword = body.password !== undefined
  if (resetsPassword && before.auth === 'oidc')
    throw new Refusal(
      'conflict',
      `${username} signs in with the identity provider and has no password here`,
    )
  const password = resetsPassword ? await newPassword(passwords, body.password, username) : null
  const profile = (['display_name', 'email'] as const).filter(
    field => body[field] !== undefined && body[field] !== before[field],
  )
  const { role, disabled } = body
  await commit(deps, request, userAt(username), {
    locks: role !== undefined || disabled !== undefined ? [lastAdminLock] : [],
    decide: user => changeUser(user, { username, role, disabled, resetsPassword, profile }),
    async alongside(tx, { events: decided, now }) {
      const effect = { caller, body, password, now }
      for (const event of decided) await takeEffect(tx, event, effect)
      if (decided.some(mayTakeAnAdmin)) await keepAnAdmin(tx)
    },
  })
  const [after, held] = [await readPerson(deps, username), await quotaOf(deps.pool, username)]
  return { ...userOf(after, held), password: password?.shown ?? null }
}

async function takeEffect(tx: Transaction, event: UserEvent, effect: Effect): Promise<void> {
  const { caller, body, now } = effect
  const { username } = event.data
  const set = (assignment: string, ...values: unknown[]) =>
    tx.query(`update auth.person set ${assignment} where username = $1`, [username, ...values])
  switch (event.type) {
    case 'user.role_changed':
      // Sessions continue: access tokens with the old role are refused, and a refresh issues one with the new role.
      await set('role = $2', event.data.role)
      break
    case 'user.disabled':
      await set('disabled = true')
      await revokeSessions(tx, username, { now })
      await endExternalIngestTokens(tx, username, now)
      break
    case 'user.enabled':
      await set('disabled = false')
      break
    case 'user.password_reset':
      if (effect.password)
        await set(
          'password_hash = $2, password_generated_at = $3',
          effect.password.hash,
          generatedAt(effect.password, now),
        )
      // One's own passkeys are removed by their own route alone, which asks for a proof.
      if (username !== caller.username) await forgetPasskeys(tx, username)
      await revokeSessions(tx, username, { now, except: caller.sid })
      break
    case 'user.profile_changed':
      for (const field of event.data.fields) await set(`${field} = $2`, body[field])
  }
}

const mayTakeAnAdmin = ({ type, data }: UserEvent) =>
  type === 'user.disabled' || (type === 'user.role_changed' && data.role !== 'admin')

async function readPerson({ pool }: Deps, username: string): Promise<PersonRow> {
  const { rows } = await pool.query<PersonRow>(
    `select username, role, display_name, email, disabled, created_at, last_login_at,
            case when password_hash is null then 'oidc' else 'password' end as auth,
            auth.has_second_factor(username) as second_factor
       from auth.person where username = $1`,
    [username],
  )
  if (!rows[0]) throw new Refusal('not_found', `No such user: ${username}`)
  return rows[0]
}
