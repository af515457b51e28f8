import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** `kid` names the key that signed an address, so that addresses signed with another key are recognized. */
export type AddressKey = { kid: string; secret: Buffer }

/** Each purpose has its own key; it is the same in every process of an installation, because `root` is. */
export function addressKeyOf(root: Buffer, purpose: 'uploads' | 'downloads'): AddressKey {
  const secret = Buffer.from(hkdfSync('sha256', root, '', `addresses of ${purpose}`, 32))
  return { kid: createHash('sha256').update(secret).digest('hex').slice(0, 8), secret }
}

/** When an address expires, as in its query: epoch seconds. */
export const expiryOf = (expires: Date): string => String(Math.floor(expires.getTime() / 1000))

/** Signs these parts, none of which may contain a line feed. */
export const signatureOf = (key: AddressKey, covered: readonly string[]): string =>
  macOf(key, covered).toString('base64url')

/** `forged`: not signed with this key, or changed since. */
export function judgeSignature(
  key: AddressKey,
  covered: readonly string[],
  { sig, exp }: { sig: string; exp: string },
  now: Date,
): 'valid' | 'expired' | 'forged' {
  const given = Buffer.from(sig, 'base64url')
  const right = macOf(key, covered)
  if (given.length !== right.length || !timingSafeEqual(given, right)) return 'forged'
  return Number(exp) * 1000 > now.getTime() ? 'valid' : 'expired'
}

const macOf = ({ secret }: AddressKey, covered: readonly string[]): Buffer =>
  createHmac('sha256', secret).update(covered.join('\n')).digest()
