import {
  BadSetting,
  type Environment,
  type Reader,
  type Settings,
  text,
  whole,
} from '../platform/settings.ts'

/** The settings as configured; issuer, client id and client secret are either all set or all missing. */
export type OidcConfig = {
  oidcIssuer: string | null
  oidcClientId: string | null
  oidcClientSecret: string | null
  oidcName: string | null
  oidcAdminGroup: string | null
  oidcGroupsClaim: string
  oidcSessionHours: number
}

const issuer: Reader<string | null> = (value, name) => {
  if (value === undefined || value === '') return null
  const url = URL.parse(value)
  const isPlain = url?.search === '' && url.hash === ''
  if (!isPlain || !isProtected(url))
    throw new BadSetting(`${name}=${value}: an https address is expected (http on loopback only)`)
  return value
}

/** Whether an address is safe from eavesdropping: TLS, or this machine. */
export const isProtected = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' ||
  (protocol === 'http:' && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname))

export const oidcSettings: Settings<OidcConfig> = {
  oidcIssuer: ['SERVICE_OIDC_ISSUER', issuer],
  oidcClientId: ['SERVICE_OIDC_CLIENT_ID', text(null)],
  oidcClientSecret: ['SERVICE_OIDC_CLIENT_SECRET', text(null)],
  oidcName: ['SERVICE_OIDC_NAME', text(null)],
  oidcAdminGroup: ['SERVICE_OIDC_ADMIN_GROUP', text(null)],
  oidcGroupsClaim: ['SERVICE_OIDC_GROUPS_CLAIM', text('groups')],
  oidcSessionHours: ['SERVICE_OIDC_SESSION_HOURS', whole(24, 1, 720)],
}

/** One line for each missing setting, if some of the three are set. */
export function incompleteOidc(env: Environment): string[] {
  const of = (...keys: (keyof OidcConfig)[]) => keys.map(key => oidcSettings[key][0])
  const needed = of('oidcIssuer', 'oidcClientId', 'oidcClientSecret')
  const all = [
    ...needed,
    ...of('oidcName', 'oidcAdminGroup', 'oidcGroupsClaim', 'oidcSessionHours'),
  ]
  const isSet = (name: string) => env[name] !== undefined && env[name] !== ''
  const given = all.filter(isSet)
  if (given.length === 0) return []
  return needed
    .filter(name => !isSet(name))
    .map(name => `${name}: missing, though ${given.join(', ')} is set`)
}

/** The identity provider that replaces passwords. */
export type OidcSettings = {
  issuer: string
  clientId: string
  clientSecret: string
  /** Display name. */
  name: string
  /** The provider's group whose members are the admins; null: roles are managed in Forge. */
  adminGroup: string | null
  groupsClaim: string
  /** How long a session lasts without confirmation by the provider. */
  sessionHours: number
}

/** Null if people sign in with passwords. */
export function oidcOf(config: OidcConfig): OidcSettings | null {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret } = config
  if (issuer === null || clientId === null || clientSecret === null) return null
  const name = config.oidcName ?? new URL(issuer).host
  const { oidcAdminGroup: adminGroup, oidcGroupsClaim: groupsClaim } = config
  const { oidcSessionHours: sessionHours } = config
  return { issuer, clientId, clientSecret, name, adminGroup, groupsClaim, sessionHours }
}
