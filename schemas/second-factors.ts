import { Type } from 'typebox'
import { secondFactorCode } from './sessions.ts'
import { closed } from './shared.ts'

/** The current password. */
export const passwordGiven = closed({
  password: Type.String({ minLength: 1, maxLength: 4096, 'x-secret': true }),
})

/** `secret`: base32, as people type it into an authenticator; `otpauth_url`: the same for a QR code. */
export const totpBegun = Type.Object({ secret: Type.String(), otpauth_url: Type.String() })

export const totpConfirmation = closed({ code: secondFactorCode() })

/** Shown in this response only; each signs in once instead of the authenticator. */
export const totpSetUp = Type.Object({ recovery_codes: Type.Array(Type.String()) })
