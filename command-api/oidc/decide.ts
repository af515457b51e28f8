import type { Role, UserEvent } from '../../events/users.ts'

type Claims = Record<string, unknown>

/** What the provider makes of a person; null where roles are given here instead. */
export function roleBy(
  claims: Claims,
  { adminGroup, groupsClaim }: { adminGroup: string | null; groupsClaim: string },
): Role | null {
  if (adminGroup === null) return null
  return [claims[groupsClaim]].flat().includes(adminGroup) ? 'admin' : 'operator'
}

/** Decides by the role before; null before the person was created, or to leave it. */
export function followRole(
  previous: Role | null,
  { username, role }: { username: string; role: Role | null },
): UserEvent[] {
  if (previous === null || role === null || role === previous) return []
  return [{ type: 'user.role_changed', data: { username, role, previous } }]
}

const maxUsername = 63

/** A username after what the provider calls the person, in the letters that usernames have. */
export function usernameFrom(claims: Claims): string {
  const called = [claims.preferred_username, claims.email, claims.name].find(isText) ?? ''
  const fitting = called
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/@.*/s, '')
    .replace(/[^a-z0-9_.-]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
    .slice(0, maxUsername)
  return fitting || 'person'
}

/** The nth choice where a name is taken: `ada`, `ada-2`, `ada-3`. */
export function nthChoice(username: string, n: number): string {
  if (n === 1) return username
  const suffix = `-${n}`
  return username.slice(0, maxUsername - suffix.length) + suffix
}

/** What of the profile fits the limits that administrators have too. */
export function profileFrom({ name, email }: Claims): {
  display_name: string | null
  email: string | null
} {
  const isAddress = isText(email) && email.length <= 254 && /^[^@\s]+@[^@\s]+$/.test(email)
  return {
    display_name: isText(name) ? storable(name.slice(0, 128)) || null : null,
    email: isAddress ? storable(email) : null,
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** Postgres holds neither NUL nor halves of a surrogate pair. */
const storable = (text: string) => text.toWellFormed().replaceAll('\0', '')
