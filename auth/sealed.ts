import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** Only a holder of `root` can open a secret sealed for this purpose and owner. */
export type Seal = { root: string | Buffer; purpose: string; owner: string }

const ivBytes = 12
const tagBytes = 16

/** Encrypts a secret for the database: AES-256-GCM, bound to its owner, under a key derived from `root`. */
export function seal(text: string, { root, purpose, owner }: Seal): Buffer {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', keyOf(root, purpose), iv)
  cipher.setAAD(Buffer.from(owner))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), sealed])
}

/** Null if it was sealed for another owner or under another root, or was changed. */
export function unseal(sealed: Buffer, { root, purpose, owner }: Seal): string | null {
  try {
    const decipher = createDecipheriv(
      'aes-256-gcm',
      keyOf(root, purpose),
      sealed.subarray(0, ivBytes),
      { authTagLength: tagBytes },
    )
    decipher.setAAD(Buffer.from(owner))
    decipher.setAuthTag(sealed.subarray(ivBytes, ivBytes + tagBytes))
    const opened = decipher.update(sealed.subarray(ivBytes + tagBytes))
    return Buffer.concat([opened, decipher.final()]).toString('utf8')
  } catch {
    return null
  }
}

const keyOf = (root: string | Buffer, purpose: string) =>
  Buffer.from(hkdfSync('sha256', root, '', purpose, 32))
