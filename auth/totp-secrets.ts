import { generateKeyPairSync } from 'node:crypto'
import type { KeyStore } from './key-folder.ts'
import { seal, unseal } from './sealed.ts'

/** Seals the secrets of authenticators for the database. */
export type TotpSecrets = {
  seal(secret: string, username: string): Promise<Buffer>
  /** Null if it was sealed for somebody else, or by an installation with other keys. */
  open(sealed: Buffer, username: string): Promise<string | null>
}

/** Stored with the signing keys, whose names look different, and moved and backed up with them. */
const name = 'second-factors'

/**
 * The key is in no table unless it is sealed itself, so that the database alone reveals no secret. It is created when the first secret
 * is sealed; `alone` runs work in one process of the installation at a time.
 */
export function totpSecrets(
  store: KeyStore,
  alone: <T>(work: () => Promise<T>) => Promise<T>,
): TotpSecrets {
  let known: string | null = null
  const read = async () => {
    if (known === null && (await store.kids()).includes(name)) known = await store.read(name)
    return known
  }
  const readOrCreate = async () => {
    const root = await read()
    if (root !== null) return root
    // A process that was killed here may have left one that is not in use.
    await store.remove(name)
    const made = newKey()
    await (await store.prepare(name, made))()
    return made
  }
  const of = (root: string, owner: string) => ({ root, purpose: 'forge authenticator', owner })
  return {
    async seal(secret, username) {
      const root = (await read()) ?? (await alone(readOrCreate))
      return seal(secret, of(root, username))
    },
    async open(sealed, username) {
      const root = await read()
      return root === null ? null : unseal(sealed, of(root, username))
    },
  }
}

/** A private key only because the store holds nothing else; nobody signs with it. */
function newKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
}
