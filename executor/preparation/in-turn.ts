import { rename, rm, stat, utimes } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { createDurably, isErrno, readJson } from '../attempts/durable-json.ts'
import { bootId, type Identity, identify, isAlive } from '../attempts/process-identity.ts'

/** Something that one of several processes makes while the others wait. */
export type Turn<T> = {
  /** Null: it has to be made. */
  ready(): Promise<T | null>
  /** Called once by a process that waits for another. */
  onWait(): void
  make(): Promise<T>
  signal?: AbortSignal
}

/** How often a maker touches its lock, and how old that is when other machines take it for dead. */
const heartbeatMs = 10_000
const silentMs = 60_000

/**
 * Makes it if no other process does, or else waits for that one; takes over from a killed process. The lock only saves work:
 * two makers after a takeover have to be harmless.
 */
export async function inTurn<T>(lock: string, turn: Turn<T>): Promise<T> {
  const made = await takeTurn(lock, turn)
  if (made !== null) return made
  const heartbeat = setInterval(() => touch(lock), heartbeatMs)
  try {
    return await turn.make()
  } finally {
    clearInterval(heartbeat)
    await rm(lock, { force: true })
  }
}

/** Null when it is this process's turn. */
async function takeTurn<T>(lock: string, { ready, onWait, signal }: Turn<T>): Promise<T | null> {
  for (let round = 0; !(await createDurably(lock, identify(process.pid))); round++) {
    signal?.throwIfAborted()
    const made = await ready()
    if (made !== null) return made
    const waiting = await isHeld(lock)
    if (waiting && round === 0) onWait()
    await delay(200)
  }
  // Another maker may have finished between the last check and the lock.
  const made = await ready()
  if (made !== null) await rm(lock, { force: true })
  return made
}

async function isHeld(lock: string): Promise<boolean> {
  const owner = await readJson<Identity>(lock)
  if (!owner) return false
  if (isAlive(owner) || (isElsewhere(owner) && (await ageOf(lock)) < silentMs)) return true
  await setAside(lock)
  return false
}

/** Its process cannot be looked up here: on Slurm the folder is shared, or this machine has restarted. */
export const isElsewhere = ({ boot_id }: Identity): boolean => boot_id !== bootId()

/** Since its last change, in milliseconds. */
export async function ageOf(file: string): Promise<number> {
  const found = await stat(file).catch(() => null)
  return found ? Date.now() - found.mtimeMs : Number.POSITIVE_INFINITY
}

function touch(file: string): void {
  const now = new Date()
  // Only a hint; the next heartbeat may succeed.
  utimes(file, now, now).catch(() => {})
}

/** Renames instead of removing: of two processes that find the same dead owner, only one succeeds. */
async function setAside(lock: string): Promise<void> {
  const aside = `${lock}.${process.pid}.dead`
  try {
    await rename(lock, aside)
    await rm(aside, { force: true })
  } catch (error) {
    if (!isErrno(error, 'ENOENT')) throw error
  }
}
