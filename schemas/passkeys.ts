import { Type } from 'typebox'
import { closed, nameText, nullable, pageQuery, timestamp } from './shared.ts'

/** Passkeys that one person may have. */
export const maxPasskeys = 20

/** For `navigator.credentials` of a browser, as `PublicKeyCredential.parse…OptionsFromJSON` reads it (WebAuthn, level 3). */
export const passkeyOptions = Type.Object({}, { additionalProperties: true })

const base64 = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '^[\\w-]+$' })

/** What `PublicKeyCredential.toJSON()` of a browser returns. */
const registered = Type.Object(
  {
    id: base64(1400),
    rawId: base64(1400),
    type: Type.Literal('public-key'),
    response: Type.Object(
      { clientDataJSON: base64(4096), attestationObject: base64(16_384) },
      { additionalProperties: true },
    ),
    clientExtensionResults: Type.Object({}, { additionalProperties: true }),
  },
  { additionalProperties: true },
)

const signed = Type.Object(
  {
    id: base64(1400),
    rawId: base64(1400),
    type: Type.Literal('public-key'),
    response: Type.Object(
      {
        clientDataJSON: base64(4096),
        authenticatorData: base64(4096),
        signature: base64(4096),
        userHandle: base64(128),
      },
      { additionalProperties: true },
    ),
    clientExtensionResults: Type.Object({}, { additionalProperties: true }),
  },
  { additionalProperties: true },
)

/** `name`: for people, e.g. of the device. */
export const passkeyInput = closed({ name: nameText(64), credential: registered })

/** What a browser signed with a passkey. */
export const signedByPasskey = signed

export const passkeyProof = closed({ credential: signed })

export const passkeyInPath = Type.Object({
  passkey_id: Type.String({ minLength: 1, maxLength: 128 }),
})

export const passkey = Type.Object({
  passkey_id: Type.String(),
  name: Type.String(),
  created_at: timestamp(),
  last_used_at: nullable(timestamp()),
})

/** `recovery_codes`: new ones, shown in this response only, for people who have none left; else empty. */
export const passkeyRegistered = Type.Object({
  ...passkey.properties,
  recovery_codes: Type.Array(Type.String()),
})

export const passkeyListQuery = closed(pageQuery)
