import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { DamagedFile } from '../platform/damaged-file.ts'
import { repeat } from '../platform/repeat.ts'
import { type KeyStore, keyFolder } from './key-folder.ts'

export type SigningKey = { kid: string; privateKey: KeyObject; publicKey: KeyObject }

/** The signing keys of an installation, which all its processes share. */
export type KeyRing = {
  /** The newest key, which signs. */
  current(): SigningKey
  /** Any key whose tokens may still be valid, including one that another process has just created. */
  find(kid: string): Promise<SigningKey | null>
  /** Creates a key that is not in use yet. */
  prepare(now: Date): Promise<PreparedKey>
  /** Loads keys of other processes, and removes keys replaced more than `tokenSeconds` ago. */
  renew(now: Date, tokenSeconds: number): Promise<void>
}

export type PreparedKey = {
  kid: string
  /** Starts signing with it here; other processes follow at their next check. */
  activate(): Promise<void>
}

/** How often a process checks for keys of other processes, in milliseconds. */
const lookEveryMs = 5_000
const lookForOthersMs = 100
/** Another process may sign with the old key until its next check, and its clock may be behind. */
const lateSigningMs = 60_000

/** Creation time in base 36, then random. Sealing keys, which are kept among these, have other names. */
const kidShape = /^[0-9a-z]{8}-[0-9a-f]{8}$/

/** The signing keys in `<dataDir>/keys`. */
export const loadKeys = async (dataDir: string): Promise<KeyRing> =>
  openKeyRing(await keyFolder(join(dataDir, 'keys')))

/** Opens the signing keys; creates the first one. */
export async function openKeyRing(store: KeyStore): Promise<KeyRing> {
  let keys: readonly SigningKey[] = []
  const look = async () => {
    const { read, fault } = await readKeys(store, keys)
    // Keeps the loaded keys if all were deleted, so that the server can still sign.
    if (read.length > 0) keys = read
    if (fault !== null) throw fault
  }
  const lookForOthers = sharedLook(look)
  const prepare = (now: Date) => prepareKey(store, now, look)
  await look()
  if (keys.length === 0) await (await prepare(new Date())).activate()
  return {
    current() {
      const newest = keys.at(-1)
      if (!newest) throw new Error('there is no signing key')
      return newest
    },
    async find(kid) {
      if (!kidShape.test(kid)) return null
      const known = () => keys.find(key => key.kid === kid)
      // A damaged key must not change the response to a made-up name; `renew` reports the damage.
      if (!known())
        await lookForOthers().catch(error => {
          if (!(error instanceof DamagedFile)) throw error
        })
      return known() ?? null
    },
    prepare,
    async renew(now, tokenSeconds) {
      await look()
      const outlived = keys.filter((_, index) => {
        const successor = keys[index + 1]
        const goneMs = now.getTime() - tokenSeconds * 1000 - lateSigningMs
        return successor !== undefined && madeMs(successor) < goneMs
      })
      for (const { kid } of outlived) await store.remove(kid)
      if (outlived.length > 0) await look()
    },
  }
}

/**
 * Anybody can make up key names, so unknown names do not each trigger a listing: one starts at most every
 * `lookForOthersMs`, and all callers before its start share it.
 */
function sharedLook(look: () => Promise<void>): () => Promise<void> {
  let next: Promise<void> | null = null
  let lookedMs = Number.NEGATIVE_INFINITY
  const lookLater = async () => {
    await setTimeout(Math.max(0, lookedMs + lookForOthersMs - performance.now()))
    next = null
    lookedMs = performance.now()
    await look()
  }
  return () => {
    next ??= lookLater()
    return next
  }
}

/** Keeps the keys of this process up to date until stopped. */
export function watchKeys(
  keys: KeyRing,
  { now, tokenSeconds, failed }: KeyWatch,
): { stop(): Promise<void> } {
  const look = async () => {
    await keys.renew(now(), tokenSeconds)
    return lookEveryMs
  }
  return repeat(look, { failed, firstAfterMs: lookEveryMs })
}

export type KeyWatch = {
  now: () => Date
  tokenSeconds: number
  failed: (error: unknown) => void
}

const madeMs = ({ kid }: SigningKey) => Number.parseInt(kid.slice(0, kid.indexOf('-')), 36)

async function prepareKey(
  store: KeyStore,
  now: Date,
  look: () => Promise<void>,
): Promise<PreparedKey> {
  const { kid, pem } = newKey(now)
  const use = await store.prepare(kid, pem)
  return {
    kid,
    async activate() {
      await use()
      await look()
    },
  }
}

/** A key that nobody has yet; names sort by age. */
export function newKey(now: Date): { kid: string; pem: string } {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return {
    kid: `${now.getTime().toString(36)}-${randomBytes(4).toString('hex')}`,
    pem: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  }
}

/** All keys, newest last, and the first fault among them; known keys are not read again. */
async function readKeys(store: KeyStore, known: readonly SigningKey[]) {
  const kids = (await store.kids()).filter(kid => kidShape.test(kid)).sort()
  const keys = kids.map(kid => known.find(key => key.kid === kid) ?? readKey(store, kid))
  const outcomes = await Promise.allSettled(keys)
  const read: SigningKey[] = []
  const faults: unknown[] = []
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') faults.push(outcome.reason)
    else if (outcome.value !== null) read.push(outcome.value)
  return { read, fault: faults[0] ?? null }
}

async function readKey(store: KeyStore, kid: string): Promise<SigningKey | null> {
  const pem = await store.read(kid)
  if (pem === null) return null
  const privateKey = createPrivateKey(pem)
  return { kid, privateKey, publicKey: createPublicKey(privateKey) }
}
