import type { User, UserEvent } from '../../events/users.ts'
import { Refusal } from '../../platform/refusal.ts'

export function removeFactor(user: User, username: string): UserEvent[] {
  if (!user) throw new Refusal('not_found', `No such user: ${username}`)
  return [{ type: 'user.second_factor_removed', data: { username } }]
}
