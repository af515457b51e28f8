import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

export type Sealing = { clientSecret: string; username: string }

const ivBytes = 12
const tagBytes = 16

/**
 * Encrypts a provider's refresh token for the database (AES-256-GCM, bound to the person). The key follows from the client
 * secret, without which the token would be of no use either; it is in no table and the same in every process.
 */
export function sealProviderToken(token: string, { clientSecret, username }: Sealing): Buffer {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', keyOf(clientSecret), iv)
  cipher.setAAD(Buffer.from(username))
  const sealed = Buffer.concat([cipher.update(token, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), sealed])
}

/** Null if it was sealed for another person or under another client secret. */
export function openProviderToken(
  sealed: Buffer,
  { clientSecret, username }: Sealing,
): string | null {
  try {
    const decipher = createDecipheriv(
      'aes-256-gcm',
      keyOf(clientSecret),
      sealed.subarray(0, ivBytes),
      { authTagLength: tagBytes },
    )
    decipher.setAAD(Buffer.from(username))
    decipher.setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes))
    const opened = decipher.update(sealed.subarray(ivBytes + tagBytes))
    return Buffer.concat([opened, decipher.final()]).toString('utf8')
  } catch {
    return null
  }
}

const keyOf = (clientSecret: string) =>
  Buffer.from(hkdfSync('sha256', clientSecret, '', 'forge provider token', 32))
