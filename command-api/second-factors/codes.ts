import { randomBytes } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { sha256 } from '../../auth/opaque-token.ts'
import type { SealedFor } from '../../auth/sealing-keys.ts'

/** What every authenticator supports (RFC 6238). */
const parameters = { issuer: 'Forge', algorithm: 'SHA1', digits: 6, period: 30 } as const
/** Steps by which the clock of the authenticator may differ. */
const drift = 1
const secretBytes = 20
const recoveryCodes = 10
/** As 16 characters of base32. */
const recoveryBytes = 10

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

/** Ten new codes like `k3rq-7wzp-mf2d-xayb`. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: recoveryCodes }, () => {
    const bytes = new Uint8Array(randomBytes(recoveryBytes))
    const text = new Secret({ buffer: bytes.buffer }).base32.toLowerCase()
    return text.match(/.{4}/g)?.join('-') ?? text
  })

export type GivenCode = { is: 'totp'; code: string } | { is: 'recovery'; sha256: Buffer }

/** What a person typed, with or without spaces, hyphens and capitals; null: it is neither kind. */
export function givenCode(text: string): GivenCode | null {
  const code = text.toLowerCase().replaceAll(/[\s-]/g, '')
  if (/^\d{6}$/.test(code)) return { is: 'totp', code }
  return /^[a-z2-7]{16}$/.test(code) ? { is: 'recovery', sha256: recoveryHash(code) } : null
}

/** A plain hash suffices: the codes are random, and too long to be tried one by one. */
export const recoveryHash = (code: string): Buffer => sha256(code.replaceAll('-', ''))
