import { remembered } from '../../platform/remembered.ts'
import { Invalid } from '../../schemas/validate.ts'

/** Maximum distinct keys of a run, and the number from which its reports are warned. */
export const maxKeys = 100_000
export const manyKeys = 10_000

/** The read models' knowledge of the keys of runs. */
export type StoredKeys = {
  /** The number of keys of each run; runs without points are missing. */
  count(runIds: string[]): Promise<Map<string, number>>
  /** The keys among these that the run does not have. */
  missing(runId: string, keys: readonly string[]): Promise<string[]>
}

export type KeyLimit = {
  /**
   * Refuses (422) a report that would give its run more than `maxKeys`; otherwise returns about how many it has. Nothing
   * is awaited while no key is new to this process.
   */
  admit(runId: string, keys: readonly string[]): Promise<number> | number
}

type Options = {
  maxKeys?: number
  /** Called once for a run that has more than `manyKeys`. */
  noticed?: (runId: string, keys: number) => void
}

/**
 * Keys of one run that this process has admitted, and how many the read models had when one was last new. `last` holds the keys
 * of the newest report that had no new key.
 */
type Known = { keys: Set<string>; last: readonly string[]; stored: number; weight: number }

/** Maximum size of everything remembered, in characters: some 300,000 keys. One run at its limit always fits. */
const maxWeight = 32_000_000
/** The overhead of a key besides its characters. */
const keyWeight = 64
/** How old the count of the read models may be, in milliseconds: normally, and while they are unavailable. */
const counting = { ttlMs: 1000, staleMs: 60_000 }

/**
 * Counts the keys of runs in memory, which is exact for a run whose reports all come to this process. Keys admitted by other
 * processes, or by this one before its start, are known from the read models about a second later. So with several processes a
 * run may exceed the limit by the keys that the others admit within the projector's lag, but never by more than `maxKeys` for
 * each process.
 */
export function createKeyLimit(
  stored: StoredKeys,
  { maxKeys: most = maxKeys, noticed = () => {} }: Options = {},
): KeyLimit {
  const runs = createKnownRuns()
  const storedCount = remembered(counting, stored.count)

  const admitNew = async (runId: string, keys: readonly string[]) => {
    // While the read models are unavailable, this process's own count decides.
    const count = (await storedCount(runId).catch(() => null)) ?? 0
    const isNear = count + keys.length > most
    const unstored = isNear ? await stored.missing(runId, keys) : keys
    if (count + unstored.length > most) throw tooMany(count + unstored.length, most)
    // Only now, because other reports may have been admitted meanwhile.
    const known = runs.get(runId)
    const fresh = newTo(known, keys)
    if (known.keys.size + fresh.length > most) throw tooMany(known.keys.size + fresh.length, most)
    const before = totalOf(known)
    known.stored = Math.max(known.stored, count)
    runs.add(runId, known, fresh)
    if (before <= manyKeys && totalOf(known) > manyKeys) noticed(runId, totalOf(known))
    return totalOf(known)
  }

  return {
    admit(runId, keys) {
      const known = runs.get(runId)
      const fresh = newTo(known, keys)
      return fresh.length === 0 ? totalOf(known) : admitNew(runId, fresh)
    },
  }
}

const totalOf = ({ keys, stored }: Known) => Math.max(keys.size, stored)

const none: readonly string[] = []
/** Maximum keys of a report that are kept for comparison; in a larger one, looking them up is a small part of the work. */
const comparedKeys = 64

function newTo(known: Known, keys: readonly string[]): readonly string[] {
  // Reports repeat their keys, and comparing them is cheaper than looking up each one.
  if (isSame(known.last, keys)) return none
  for (const key of keys) if (!known.keys.has(key)) return keys.filter(one => !known.keys.has(one))
  if (keys.length <= comparedKeys) known.last = keys
  return none
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  if (some.length !== others.length) return false
  for (let i = 0; i < some.length; i++) if (some[i] !== others[i]) return false
  return true
}

/** Bounded: the runs whose last new key is oldest are forgotten first. */
function createKnownRuns() {
  const runs = new Map<string, Known>()
  let weight = 0
  const forget = (runId: string) => {
    weight -= runs.get(runId)?.weight ?? 0
    runs.delete(runId)
  }
  return {
    get: (runId: string): Known =>
      runs.get(runId) ?? { keys: new Set(), last: none, stored: 0, weight: 0 },
    add(runId: string, known: Known, keys: readonly string[]) {
      forget(runId)
      for (const key of keys) {
        known.keys.add(key)
        known.weight += key.length + keyWeight
      }
      runs.set(runId, known)
      weight += known.weight
      for (const oldest of runs.keys()) {
        if (weight <= maxWeight || oldest === runId) break
        forget(oldest)
      }
    },
  }
}

const tooMany = (total: number, most: number) =>
  new Invalid([
    {
      loc: ['body', 'points'],
      msg: `The run would have ${total} distinct metric keys; at most ${most} are allowed`,
      type: 'too_long',
      ctx: { max_length: most, actual_length: total },
    },
  ])
