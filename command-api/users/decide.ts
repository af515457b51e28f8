import type { Role, User, UserEvent } from '../../events/users.ts'
import { Refusal } from '../../platform/refusal.ts'

export type CreateUser = { username: string; role: Role }

export function createUser(user: User, { username, role }: CreateUser): UserEvent[] {
  if (user) throw new Refusal('conflict', `User ${username} already exists`)
  return [{ type: 'user.created', data: { username, role, auth: 'password' } }]
}

/** Undefined fields keep their value. Events record that passwords and profiles changed, not their contents. */
export type ChangeUser = {
  username: string
  role: Role | undefined
  disabled: boolean | undefined
  resetsPassword: boolean
  profile: readonly ('display_name' | 'email')[]
}

export function changeUser(user: User, change: ChangeUser): UserEvent[] {
  const { username, role, disabled, profile } = change
  if (!user) throw new Refusal('not_found', `No such user: ${username}`)
  const events: UserEvent[] = []
  if (role !== undefined && role !== user.role)
    events.push({ type: 'user.role_changed', data: { username, role, previous: user.role } })
  if (disabled === true && !user.isDisabled)
    events.push({ type: 'user.disabled', data: { username } })
  if (disabled === false && user.isDisabled)
    events.push({ type: 'user.enabled', data: { username } })
  if (change.resetsPassword) events.push({ type: 'user.password_reset', data: { username } })
  if (profile.length > 0)
    events.push({ type: 'user.profile_changed', data: { username, fields: [...profile] } })
  return events
}
