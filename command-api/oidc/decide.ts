import type { Role, UserEvent } from '../../events/users.ts'

type Claims = Record<string, unknown>

/** The role by the provider's groups; null if roles are managed in Forge. */
export function roleBy(
  claims: Claims,
  { adminGroup, groupsClaim }: { adminGroup: string | null; groupsClaim: string },
): Role | null {
  if (adminGroup === null) return null
  return groupsIn(claims, { groupsClaim }).includes(adminGroup) ? 'admin' : 'operator'
}

export const groupsIn = (claims: Claims, { groupsClaim }: { groupsClaim: string }): string[] =>
  [claims[groupsClaim]].flat().filter(group => typeof group === 'string')

type AtRefresh = { claims: Claims; isComplete: boolean }

/** At a refresh some providers send fewer claims than at a sign-in: then missing groups say nothing about the role. */
export function roleAtRefresh(
  { claims, isComplete }: AtRefresh,
  settings: { adminGroup: string | null; groupsClaim: string },
): { role: Role | null; isKnown: boolean } {
  const isKnown = settings.adminGroup === null || isComplete || settings.groupsClaim in claims
  return { role: isKnown ? roleBy(claims, settings) : null, isKnown }
}

/** `previous` is null before the person existed; `role` is null if the role stays. */
export function followRole(
  previous: Role | null,
  { username, role }: { username: string; role: Role | null },
): UserEvent[] {
  if (previous === null || role === null || role === previous) return []
  return [{ type: 'user.role_changed', data: { username, role, previous } }]
}

/**
 * When the person authenticated at the provider, in milliseconds: it may still remember them and have asked nothing. Now, if it does
 * not say.
 */
export const authenticatedMs = ({ auth_time }: Claims, nowMs: number): number =>
  typeof auth_time === 'number' ? Math.min(Math.max(0, auth_time * 1000), nowMs) : nowMs

const maxUsername = 63

/** Derives a valid username from the provider's claims. */
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

/** The nth candidate for a taken name: `ada`, `ada-2`, `ada-3`. */
export function nthChoice(username: string, n: number): string {
  if (n === 1) return username
  const suffix = `-${n}`
  return username.slice(0, maxUsername - suffix.length) + suffix
}

/** The parts of the profile within the limits that also apply to administrators. */
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

/** Postgres cannot store NUL or lone surrogates. */
const storable = (text: string) => text.toWellFormed().replaceAll('\0', '')
