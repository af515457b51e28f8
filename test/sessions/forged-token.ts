import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { SigningKey } from '../../auth/keys.ts'

/** A valid token in parts, and the key that signed it: the most that a forger could have. */
export type Genuine = {
  header: Record<string, unknown>
  claims: Record<string, unknown>
  parts: [header: string, claims: string, signature: string]
  key: SigningKey
}

const encode = (text: string | Buffer) => Buffer.from(text).toString('base64url')
const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())

export function takeApart(token: string, key: SigningKey): Genuine {
  const [header = '', claims = '', signature = ''] = token.split('.')
  return {
    header: decode(header),
    claims: decode(claims),
    parts: [header, claims, signature],
    key,
  }
}

/** Signs any two parts with our key. */
export function signed(header: string, claims: string, privateKey: KeyObject): string {
  const input = `${encode(header)}.${encode(claims)}`
  const signature = sign('sha256', Buffer.from(input), {
    key: privateKey,
    dsaEncoding: 'ieee-p1363',
  })
  return `${input}.${encode(signature)}`
}

/** Tokens that must all be refused, by their fault. */
export const forgeries = (genuine: Genuine): Record<string, string> => ({
  ...wrongAlgorithms(genuine),
  ...wrongHeaders(genuine),
  ...wrongClaims(genuine),
  ...wrongTexts(genuine),
  ...wrongSignatures(genuine),
})

function wrongAlgorithms({ header, claims, parts: [, , signature], key }: Genuine) {
  const claimed = encode(JSON.stringify(claims))
  const headed = (alg: unknown) => encode(JSON.stringify({ ...header, alg }))
  const hmac = (alg: string, hash: string, secret: string | Buffer) => {
    const input = `${headed(alg)}.${claimed}`
    return `${input}.${createHmac(hash, secret).update(input).digest('base64url')}`
  }
  const pem = key.publicKey.export({ type: 'spki', format: 'pem' })
  const der = key.publicKey.export({ type: 'spki', format: 'der' })
  const { alg: _, ...withoutAlgorithm } = header
  return {
    'alg none without a signature': `${headed('none')}.${claimed}.`,
    'alg None without a signature': `${headed('None')}.${claimed}.`,
    'alg nOnE with a signature': `${headed('nOnE')}.${claimed}.${signature}`,
    'HS256 with the public key as secret': hmac('HS256', 'sha256', pem),
    'HS256 with the bytes of the public key as secret': hmac('HS256', 'sha256', der),
    'HS512 with the public key as secret': hmac('HS512', 'sha512', pem),
    'HS256 with an empty secret': hmac('HS256', 'sha256', ''),
    'RS256 over our signature': `${headed('RS256')}.${claimed}.${signature}`,
    'ES384 over our signature': `${headed('ES384')}.${claimed}.${signature}`,
    'no alg': signed(JSON.stringify(withoutAlgorithm), JSON.stringify(claims), key.privateKey),
    'alg in lower case': signedWith({ header, claims, key }, { alg: 'es256' }),
    'a list of algs': signedWith({ header, claims, key }, { alg: ['ES256'] }),
  }
}

/** Signed with our own key, so that only the change is wrong. */
const signedWith = (
  { header, claims, key }: Pick<Genuine, 'header' | 'claims' | 'key'>,
  more: object,
) => signed(JSON.stringify({ ...header, ...more }), JSON.stringify(claims), key.privateKey)

function wrongHeaders(genuine: Genuine) {
  const { header, claims, key } = genuine
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = other.publicKey.export({ format: 'jwk' })
  const byOther = (more: object) =>
    signed(JSON.stringify({ ...header, ...more }), JSON.stringify(claims), other.privateKey)
  const raw = (text: string) => signed(text, JSON.stringify(claims), key.privateKey)
  const with_ = (more: object) => signedWith(genuine, more)
  return {
    'typ JWT': with_({ typ: 'JWT' }),
    'no typ': with_({ typ: undefined }),
    'typ of an ID token': with_({ typ: 'id+jwt' }),
    'typ with a media type': with_({ typ: 'application/at+jwt' }),
    'no kid': with_({ kid: undefined }),
    'a kid that is null': with_({ kid: null }),
    'a kid that is a number': with_({ kid: 0 }),
    'a list of kids': with_({ kid: [key.kid] }),
    'a kid out of the folder': with_({ kid: '../../../../../../dev/null' }),
    'a kid by way of the folder': with_({ kid: `../keys/${key.kid}` }),
    'a kid with its suffix': with_({ kid: `${key.kid}.pem` }),
    'a kid with SQL': with_({ kid: `${key.kid}' or '1'='1` }),
    'a kid with U+0000': with_({ kid: `${key.kid}\0` }),
    'the kid __proto__': with_({ kid: '__proto__' }),
    'a kid of nobody': with_({ kid: '00000000-00000000' }),
    'a jku': with_({ jku: 'https://evil.example/keys.json' }),
    'an x5u': with_({ x5u: 'https://evil.example/certificate.pem' }),
    'a crit': with_({ crit: ['exp'] }),
    'b64 false': with_({ b64: false, crit: ['b64'] }),
    'a zip': with_({ zip: 'DEF' }),
    'the key of another under our kid': byOther({}),
    'another key along with its signature': byOther({ jwk }),
    'alg twice': raw(JSON.stringify(header).replace('{', '{"alg":"none",')),
    'a header that is null': raw('null'),
    'a header that is a list': raw('[]'),
    'a header that is not JSON': raw('ES256'),
    'an empty header': raw(''),
  }
}

function wrongClaims({ header, claims, key }: Genuine) {
  const raw = (text: string) => signed(JSON.stringify(header), text, key.privateKey)
  const with_ = (more: object) => raw(JSON.stringify({ ...claims, ...more }))
  const text = JSON.stringify(claims)
  const exp = Number(claims.exp)
  const without = Object.fromEntries(
    Object.keys(claims).map(name => [`no ${name}`, with_({ [name]: undefined })]),
  )
  return {
    ...without,
    'exp as text': with_({ exp: String(exp) }),
    'exp with a fraction': with_({ exp: exp + 0.5 }),
    'exp below zero': with_({ exp: -exp }),
    'exp 0': with_({ exp: 0 }),
    'exp null': with_({ exp: null }),
    'exp of ever': with_({ exp: 1e300 }),
    'exp past 2^53': with_({ exp: 2 ** 60 }),
    'exp in milliseconds': with_({ exp: exp * 1000 }),
    'exp in the past': with_({ exp: Math.floor(Date.now() / 1000) - 1 }),
    'iat in the future': with_({ iat: exp - 1 }),
    'iat as text': with_({ iat: String(claims.iat) }),
    'another issuer': with_({ iss: 'evil' }),
    'another audience': with_({ aud: 'forge/inference' }),
    'our audience among others': with_({ aud: ['forge/api', 'evil'] }),
    'another person': with_({ sub: 'alice' }),
    'a person as a number': with_({ sub: 1 }),
    nobody: with_({ sub: '' }),
    'another role': with_({ role: 'operator' }),
    'a role that does not exist': with_({ role: 'root' }),
    'a list of roles': with_({ role: ['admin'] }),
    'a session that does not exist': with_({ sid: 'ses_00000000000000000000000000' }),
    'a session with SQL': with_({ sid: `${claims.sid}' or '1'='1` }),
    'a session that is an object': with_({ sid: { like: '%' } }),
    'a session with U+0000': with_({ sid: '\0' }),
    'an additional claim': with_({ scope: 'all' }),
    'exp twice': raw(text.replace('{', '{"exp":1,')),
    'sub twice': raw(text.replace('{', '{"sub":"alice",')),
    'role twice, the last one wrong': raw(text.replace('}', ',"role":"operator"}')),
    'a space in the claims': raw(text.replace('{', '{ ')),
    'an escape in the claims': raw(text.replace('"sub":"a', '"sub":"\\u0061')),
    'a newline after the claims': raw(`${text}\n`),
    'claims that are a list': raw(`[${text}]`),
    'claims that are text': raw(JSON.stringify(text)),
    'claims that are null': raw('null'),
    'no claims': raw('{}'),
    'claims that are not JSON': raw('exp'),
    'claims of 8 KiB': with_({ sub: 'a'.repeat(8192) }),
    'claims nested deep': raw(`${'{"a":'.repeat(500)}1${'}'.repeat(500)}`),
  }
}

function wrongTexts({ parts }: Genuine) {
  const [header, claims, signature] = parts
  const padded = parts.map(part => part + '='.repeat((4 - (part.length % 4)) % 4 || 4))
  return {
    'padding after the header': `${padded[0]}.${claims}.${signature}`,
    'padding after the claims': `${header}.${padded[1]}.${signature}`,
    'padding after the signature': `${header}.${claims}.${padded[2]}`,
    'a tab in the claims': `${header}.${claims.slice(0, 8)}\t${claims.slice(8)}.${signature}`,
    'a space before the signature': `${header}.${claims}. ${signature}`,
    'another last bit in the signature': `${header}.${claims}.${withOtherLastBit(signature)}`,
    'a dot at the end': `${header}.${claims}.${signature}.`,
    'a dot before': `.${header}.${claims}.${signature}`,
    'five parts, as encrypted tokens have': `${header}.${claims}.${signature}.${claims}.${signature}`,
    'two parts': `${header}.${claims}`,
    'one part': header,
    'header and claims changed over': `${claims}.${header}.${signature}`,
    'percent encoding': `${header}%2E${claims}%2E${signature}`,
    'quotes around it': `"${header}.${claims}.${signature}"`,
    'the token twice': `${header}.${claims}.${signature},${header}.${claims}.${signature}`,
    ...flips('header', header, part => `${part}.${claims}.${signature}`),
    ...flips('claims', claims, part => `${header}.${part}.${signature}`),
    ...flips('signature', signature, part => `${header}.${claims}.${part}`),
  }
}

/** 86 characters carry 516 bits, of which 512 count. */
function withOtherLastBit(part: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = alphabet.indexOf(part.slice(-1))
  return part.slice(0, -1) + alphabet[last ^ 1]
}

/** One bit of the first, the middle and the last byte. */
function flips(name: string, part: string, put: (part: string) => string): Record<string, string> {
  const bytes = Buffer.from(part, 'base64url')
  const places = { first: 0, middle: bytes.length >> 1, last: bytes.length - 1 }
  return Object.fromEntries(
    Object.entries(places).map(([place, index]) => {
      const flipped = Buffer.from(bytes)
      flipped[index] = Number(flipped[index]) ^ 1
      return [`the ${place} byte of the ${name} flipped`, put(encode(flipped))]
    }),
  )
}

function wrongSignatures({ parts: [header, claims, signature], key }: Genuine) {
  const input = `${header}.${claims}`
  const der = sign('sha256', Buffer.from(input), key.privateKey)
  const of = (bytes: Buffer) => `${input}.${encode(bytes)}`
  return {
    'an empty signature': `${input}.`,
    'a signature of zeros': of(Buffer.alloc(64)),
    'a signature of ones': of(Buffer.alloc(64, 0xff)),
    'a signature of r alone': of(Buffer.from(signature, 'base64url').subarray(0, 32)),
    'a signature in DER': of(der),
    'a signature with an additional byte': of(
      Buffer.concat([Buffer.from(signature, 'base64url'), Buffer.alloc(1)]),
    ),
    'a signature of something else': signed('{}', '{}', key.privateKey).replace(
      /^.*\./,
      `${input}.`,
    ),
  }
}
