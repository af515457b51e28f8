import { Readable } from 'node:stream'
import { Unreachable } from '../../platform/http/outgoing.ts'
import { Refusal } from '../../platform/refusal.ts'
import { takeLocks } from '../commit/stream-locks.ts'
import type { Deps } from '../deps.ts'
import { contentLock } from '../rules/content-lock.ts'
import { gitHash } from '../rules/git-id.ts'
import { NotGiven } from '../rules/hub-answers.ts'
import type { AtCommit, Hub, Opened } from '../rules/model-hub.ts'
import { type FileRow, isInRepo, isRetried, markHere } from './rows.ts'

export type Receiving = {
  deps: Pick<Deps, 'store' | 'artifacts'>
  hub: Hub
  import_id: string
  model: AtCommit
  /** Ends the piece of work, unless the hub would have to send the file from the beginning. */
  pause: AbortSignal
  /** Ends it in any case. */
  stop: AbortSignal
}

/** The id under which a file arrives; `partsOfImports` reads it. */
export const partOf = (import_id: string, nth: number): string => `${import_id}_f${nth}`

/** Puts a file into the store, from where an earlier call stopped. False: it was interrupted, and what arrived is kept. */
export async function receiveFile(on: Receiving, file: FileRow): Promise<boolean> {
  const { deps, import_id } = on
  // Another import of this repository may have it, perhaps somebody else's: the hub gives the files to this person, too.
  if (file.sha256 !== null && (await takeOver(on, file, file.sha256))) return true
  const part = partOf(import_id, file.nth)
  const before = await deps.artifacts.received(part)
  const isOnce = before === 0
  if (before > file.size_bytes) await deps.artifacts.removePart(part)
  if (before !== file.size_bytes || before === 0) {
    const arrived = await receiveRest(on, file, before > file.size_bytes ? 0 : before)
    if (arrived < file.size_bytes) return false
  }
  return keep(on, file, isOnce)
}

async function takeOver(on: Receiving, file: FileRow, sha256: string): Promise<boolean> {
  const { deps, import_id, model } = on
  return deps.store.transaction(async tx => {
    await takeLocks(tx, [contentLock(sha256)])
    if (!(await isInRepo(tx, { repo: model.repo, sha256 }))) return false
    if ((await deps.artifacts.sizeOf(sha256)) !== file.size_bytes) return false
    return markHere(tx, import_id, { name: file.name, sha256 })
  })
}

/** Returns how many bytes are here. */
async function receiveRest(on: Receiving, file: FileRow, from: number): Promise<number> {
  const { hub, model, stop, pause } = on
  const opened = await hub.open(model, { name: file.name, from, signal: stop })
  const { start, sendsParts, body } = opened
  const end = () => body.destroy(new Unreachable('interrupted'))
  if (start > from) {
    body.on('error', () => {}).destroy()
    throw new Unreachable(`it sent ${file.name} from byte ${start}, not ${from}`)
  }
  if (sendsParts) pause.addEventListener('abort', end, { once: true })
  stop.addEventListener('abort', end, { once: true })
  try {
    return await store(on, file, opened)
  } catch (error) {
    stop.throwIfAborted()
    return await interrupted(on, file, { error, from: sendsParts ? from : null })
  } finally {
    pause.removeEventListener('abort', end)
    stop.removeEventListener('abort', end)
  }
}

function store({ deps, import_id }: Receiving, file: FileRow, { start, body }: Opened) {
  async function* bounded() {
    let size = start
    for await (const chunk of body) {
      size += chunk.length
      if (size > file.size_bytes)
        throw new NotGiven('', `The hub sent more bytes of ${file.name} than it lists`)
      yield chunk
    }
  }
  const bytes = Readable.from(bounded(), { objectMode: false })
  return deps.artifacts.receive(partOf(import_id, file.nth), start, bytes)
}

type Interruption = {
  error: unknown
  /** With more bytes than these it continues at once; null: the hub would begin again, which counts as a failure. */
  from: number | null
}

/** Returns how many bytes are here, or throws what ends this attempt. */
async function interrupted(
  { deps, import_id, pause }: Receiving,
  { name, nth }: FileRow,
  { error, from }: Interruption,
): Promise<number> {
  const part = partOf(import_id, nth)
  if (error instanceof NotGiven) await deps.artifacts.removePart(part)
  if (error instanceof NotGiven || isOfStore(error)) throw error
  const arrived = await deps.artifacts.received(part)
  if (from !== null && (arrived > from || pause.aborted)) return arrived
  throw new Unreachable(`the connection broke off at byte ${arrived} of ${name}`)
}

const isOfStore = (error: unknown) => error instanceof Refusal && error.code === 'unavailable'

/** Checks the file and gives it its permanent name. `isOnce`: it arrived at one go, so that a wrong digest is the hub's. */
async function keep(on: Receiving, file: FileRow, isOnce: boolean): Promise<boolean> {
  const { deps, import_id } = on
  const { artifacts } = deps
  const part = partOf(import_id, file.nth)
  const sealed = await artifacts.seal(part)
  if (sealed === null) return false
  try {
    const fault = await faultOf(on, file, sealed.sha256)
    if (fault !== null) {
      await artifacts.removePart(part)
      // Perhaps the parts of it did not fit together.
      if (isOnce || (await isRetried(deps.store, import_id, file.name)))
        throw new NotGiven('', fault)
      return false
    }
    await deps.store.transaction(async tx => {
      await takeLocks(tx, [contentLock(sealed.sha256)])
      if (await markHere(tx, import_id, { name: file.name, sha256: sealed.sha256 }))
        await artifacts.keep(sealed)
    })
  } finally {
    await artifacts.discard(sealed)
  }
  await artifacts.removePart(part)
  return true
}

async function faultOf(
  { deps, import_id }: Receiving,
  { name, nth, oid, sha256, size_bytes }: FileRow,
  arrived: string,
): Promise<string | null> {
  if (sha256 !== null)
    return sha256 === arrived
      ? null
      : `The hub sent ${name} with the SHA-256 ${arrived}, but lists it with ${sha256}`
  const hash = gitHash(size_bytes)
  for await (const chunk of (await deps.artifacts.arrived(partOf(import_id, nth))) ?? [])
    hash.update(chunk)
  const found = hash.digest('hex')
  return found === oid
    ? null
    : `The hub sent ${name} with the git id ${found}, but lists it with ${oid}`
}
