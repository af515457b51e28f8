import { Secret, TOTP } from 'otpauth'
import type { SealedFor } from '../../auth/sealing-keys.ts'
import { recoveryHash } from '../rules/recovery-codes.ts'

/** What every authenticator supports (RFC 6238). */
const parameters = { issuer: 'Forge', algorithm: 'SHA1', digits: 6, period: 30 } as const
/** Steps by which the clock of the authenticator may differ. */
const drift = 1
const secretBytes = 20

/** What the secret of a person's authenticator is sealed for. */
export const sealedFor = (owner: string): SealedFor => ({ purpose: 'forge authenticator', owner })

/** A new secret in base32. */
export const newSecret = (): string => new Secret({ size: secretBytes }).base32

export type Labelled = { secret: string; username: string; host: string }

/** For a QR code; the label tells installations and people apart in the authenticator. */
export const otpauthUrl = ({ secret, username, host }: Labelled): string =>
  new TOTP({ ...parameters, secret, label: `${username}@${host}` }).toString()

/** The time step that a code belongs to, at most one from the current step; null: it is wrong. */
export function stepOf(code: string, { secret, nowMs }: { secret: string; nowMs: number }) {
  const { period } = parameters
  const delta = TOTP.validate({
    ...parameters,
    token: code,
    secret: Secret.fromBase32(secret),
    timestamp: nowMs,
    window: drift,
  })
  return delta === null ? null : Math.floor(nowMs / 1000 / period) + delta
}

export type GivenCode = { is: 'totp'; code: string } | { is: 'recovery'; sha256: Buffer }

/** What a person typed, with or without spaces, hyphens and capitals; null: it is neither kind. */
export function givenCode(text: string): GivenCode | null {
  const code = text.toLowerCase().replaceAll(/[\s-]/g, '')
  if (/^\d{6}$/.test(code)) return { is: 'totp', code }
  return /^[a-z2-7]{16}$/.test(code) ? { is: 'recovery', sha256: recoveryHash(code) } : null
}
