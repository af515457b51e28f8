import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

type Options = Record<string, unknown> & { challenge: string }

/** What a test may want an authenticator or its browser to do wrong. */
export type Lies = {
  origin?: string
  rpId?: string
  isUserVerified?: boolean
  /** The count of signatures that it reports, instead of the next one. */
  count?: number
  /** The credential that it claims to be. */
  id?: string
  userHandle?: string
}

/** An authenticator in software (ES256, without attestation), together with a browser at `origin`. */
export function newAuthenticator(origin: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = randomBytes(16)
  let count = 0
  let handle = ''
  const rpIdOf = (lies: Lies) => lies.rpId ?? new URL(origin).hostname
  return {
    id: id.toString('base64url'),
    /** The response to the options of a registration. */
    register(options: Options & { user: { id: string } }, lies: Lies = {}) {
      handle = options.user.id
      const data = authenticatorData(rpIdOf(lies), {
        count: lies.count ?? 0,
        isUserVerified: lies.isUserVerified ?? true,
        attested: Buffer.concat([Buffer.alloc(16), uint16(id.length), id, coseKey(publicKey)]),
      })
      return {
        ...credential(id.toString('base64url')),
        response: {
          clientDataJSON: clientData('webauthn.create', options.challenge, lies.origin ?? origin),
          attestationObject: Buffer.concat([
            Buffer.from([0xa3]),
            text('fmt'),
            text('none'),
            text('attStmt'),
            Buffer.from([0xa0]),
            text('authData'),
            bytes(data),
          ]).toString('base64url'),
        },
      }
    },
    /** The response to the options of a sign-in or a confirmation. */
    sign(options: Options, lies: Lies = {}) {
      count += 1
      const data = authenticatorData(rpIdOf(lies), {
        count: lies.count ?? count,
        isUserVerified: lies.isUserVerified ?? true,
      })
      const clientDataJSON = clientData('webauthn.get', options.challenge, lies.origin ?? origin)
      return {
        ...credential(lies.id ?? id.toString('base64url')),
        response: {
          clientDataJSON,
          authenticatorData: data.toString('base64url'),
          signature: signatureOf(privateKey, data, clientDataJSON),
          userHandle: lies.userHandle ?? handle,
        },
      }
    },
  }
}

const credential = (id: string) => ({
  id,
  rawId: id,
  type: 'public-key',
  clientExtensionResults: {},
})

const clientData = (type: string, challenge: string, origin: string) =>
  Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false })).toString('base64url')

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()

const signatureOf = (key: KeyObject, data: Buffer, clientDataJSON: string) =>
  sign(
    'sha256',
    Buffer.concat([data, sha256(Buffer.from(clientDataJSON, 'base64url'))]),
    key,
  ).toString('base64url')

type Data = { count: number; isUserVerified: boolean; attested?: Buffer }

/** WebAuthn, 6.1: the relying party, flags, the count and, when registering, the new key. */
function authenticatorData(rpId: string, { count, isUserVerified, attested }: Data): Buffer {
  const flags = 0x01 | (isUserVerified ? 0x04 : 0) | (attested ? 0x40 : 0)
  const counted = Buffer.alloc(4)
  counted.writeUInt32BE(count)
  return Buffer.concat([sha256(rpId), Buffer.from([flags]), counted, attested ?? Buffer.alloc(0)])
}

/** A P-256 key in COSE (RFC 9052): `{1: 2, 3: -7, -1: 1, -2: x, -3: y}`. */
function coseKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' })
  return Buffer.concat([
    Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
    bytes(Buffer.from(x, 'base64url')),
    Buffer.from([0x22]),
    bytes(Buffer.from(y, 'base64url')),
  ])
}

const uint16 = (value: number) => Buffer.from([value >> 8, value & 0xff])
/** CBOR (RFC 8949): a byte string of up to 65,535 bytes, and a short text. */
const bytes = (data: Buffer) =>
  Buffer.concat([
    data.length < 256
      ? Buffer.from([0x58, data.length])
      : Buffer.from([0x59, ...uint16(data.length)]),
    data,
  ])
const text = (value: string) =>
  Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)])
