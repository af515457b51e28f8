import { createPrivateKey } from 'node:crypto'
import { type KeyStore, sealingPrefix } from './key-folder.ts'
import { newKey } from './keys.ts'
import { type Seal, seal, unseal } from './sealed.ts'

/** What a text is sealed for; it opens for nothing else. */
export type SealedFor = Pick<Seal, 'purpose' | 'owner'>

/** Seals texts for the database. The keys are where the signing keys are, so every process has them and no dump does. */
export type SealingKeys = {
  /** The sealed text, with the name of its key. */
  seal(text: string, what: SealedFor): string
  /** Null if it was sealed for something else or changed, or if its key is gone. */
  open(sealed: string, what: SealedFor): Promise<string | null>
}

/** Opens the newest sealing key; creates the first one. Processes that start together may create one each. */
export async function openSealingKeys(store: KeyStore, now: Date): Promise<SealingKeys> {
  const known = new Map<string, Buffer>()
  const rootOf = async (kid: string): Promise<Buffer | null> => {
    const root = known.get(kid) ?? (await readRoot(store, kid))
    if (root) known.set(kid, root)
    return root
  }
  const current = (await newest(store)) ?? (await create(store, now))
  const root = await rootOf(current)
  if (!root) throw new Error(`the sealing key ${current} has just been removed`)
  return {
    seal: (text, what) => `${current}:${seal(text, { root, ...what }).toString('base64')}`,
    async open(sealed, what) {
      const [kid = '', body = ''] = sealed.split(':')
      const its = kidShape.test(kid) ? await rootOf(kid) : null
      return its && unseal(Buffer.from(body, 'base64'), { root: its, ...what })
    },
  }
}

const kidShape = new RegExp(`^${sealingPrefix}[0-9a-z]{8}-[0-9a-f]{8}$`)

const newest = async (store: KeyStore): Promise<string | undefined> =>
  (await store.kids())
    .filter(kid => kidShape.test(kid))
    .sort()
    .at(-1)

async function create(store: KeyStore, now: Date): Promise<string> {
  const { kid, pem } = newKey(now)
  const use = await store.prepare(sealingPrefix + kid, pem)
  await use()
  return sealingPrefix + kid
}

/** The bytes of the key, whatever the line ends of its file. */
async function readRoot(store: KeyStore, kid: string): Promise<Buffer | null> {
  const pem = await store.read(kid)
  return pem === null ? null : createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' })
}
