import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export type SigningKey = { kid: string; privateKey: KeyObject; publicKey: KeyObject }
/** `current` signs; all of them verify, so that a rotation ends no session. */
export type KeyRing = { current: SigningKey; byKid: ReadonlyMap<string, SigningKey> }

/** Reads the signing keys of `<dataDir>/keys` (0600, one PEM a key, newest name last); makes the first one. */
export async function loadKeys(dataDir: string): Promise<KeyRing> {
  const folder = join(dataDir, 'keys')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  let names = await pemNames(folder)
  if (names.length === 0) {
    await createKey(folder)
    names = await pemNames(folder)
  }
  const keys = await Promise.all(names.map(name => readKey(folder, name)))
  const current = keys.at(-1)
  if (!current) throw new Error(`no signing key could be made in ${folder}`)
  return { current, byKid: new Map(keys.map(key => [key.kid, key])) }
}

const pemNames = async (folder: string) =>
  (await readdir(folder)).filter(name => /^[0-9a-z-]+\.pem$/.test(name)).sort()

async function createKey(folder: string): Promise<void> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const kid = `${Date.now().toString(36)}-${randomBytes(4).toString('hex')}`
  const path = join(folder, `${kid}.pem`)
  await writeFile(`${path}.new`, privateKey.export({ type: 'pkcs8', format: 'pem' }), {
    mode: 0o600,
  })
  await rename(`${path}.new`, path)
}

async function readKey(folder: string, name: string): Promise<SigningKey> {
  const privateKey = createPrivateKey(await readFile(join(folder, name)))
  return { kid: name.slice(0, -'.pem'.length), privateKey, publicKey: createPublicKey(privateKey) }
}
