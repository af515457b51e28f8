import type { Pool } from 'pg'
import { createBell } from '../../platform/bell.ts'
import { untilAborted } from '../../platform/pause.ts'
import { parsePosition } from '../../platform/position.ts'
import { inBatches } from '../../platform/remembered.ts'
import type { Signals } from '../../platform/signals.ts'
import type { WakeUps } from '../../schemas/wake-ups.ts'

/** How long a read waits for a write it should show; after that it returns the current data. */
export const usualWaitMs = 2000
/** Polling, because the signals of other processes may be lost. */
const pollMs = 25
/** How many reads per person, and in total, may wait at once in a process. Further reads return the current data. */
const maxPerPerson = 16
const maxInAll = 256

export type Waiting = {
  username: string
  positions: readonly string[]
  /** Aborts when the connection closes. */
  gone: AbortSignal
}

/** Resolves with whether the read models reached these positions in time. */
export type WaitFor = (waiting: Waiting) => Promise<boolean>

/** All waiting reads share one query per check. */
export function createWaiter(
  pool: Pool,
  signals: Signals<WakeUps>,
  maxWaitMs = usualWaitMs,
): WaitFor {
  const isReached = inBatches((positions: string[]) => readReached(pool, positions))
  const places = createPlaces()
  const areReached = async (positions: readonly string[]) =>
    (await Promise.all(positions.map(isReached))).every(reached => reached === true)
  return async ({ username, positions, gone }) => {
    if (positions.length === 0) return true
    const ending = AbortSignal.any([AbortSignal.timeout(maxWaitMs), gone])
    const look = () => Promise.race([areReached(positions), untilAborted(ending).then(() => false)])
    if (await look()) return true
    // Reads of one page wait for the same writes, so they share a place.
    const leave = places.take(username, positions.join())
    if (leave === null) return false
    const bell = createBell()
    const unsubscribe = signals.subscribe('projected', bell.ring)
    try {
      while (!ending.aborted) {
        await bell.wait(pollMs, ending)
        if (await look()) return true
      }
      return false
    } finally {
      unsubscribe()
      leave()
    }
  }
}

/** Counts the waiting reads. `take` returns a function that frees the place again; null if none is free. */
function createPlaces() {
  type Place = { username: string; awaited: string }
  const taken = new Set<Place>()
  const hasRoom = ({ username, awaited }: Place) => {
    const own = [...taken].filter(place => place.username === username)
    const different = new Set([...own.map(place => place.awaited), awaited])
    return taken.size < maxInAll && different.size <= maxPerPerson
  }
  return {
    take(username: string, awaited: string) {
      const place = { username, awaited }
      if (!hasRoom(place)) return null
      taken.add(place)
      return () => taken.delete(place)
    },
  }
}

async function readReached(pool: Pool, positions: readonly string[]): Promise<Map<string, true>> {
  const parsed = positions.map(parsePosition)
  const streams = parsed.flatMap((at, index) => (at?.kind === 'stream' ? [{ ...at, index }] : []))
  const logs = parsed.flatMap((at, index) => (at?.kind === 'log' ? [{ ...at, index }] : []))
  const { rows } = await pool.query<{ index: number }>({
    name: 'wait_reached',
    text: `select index
             from unnest($1::int[], $2::text[], $3::int[]) as awaited (index, stream, version)
             join stream_head head using (stream) where head.version >= awaited.version
            union all
           select index
             from unnest($4::int[], $5::text[], $6::int[], $7::bigint[]) as awaited (index, topic, partition, at)
             join projection_checkpoint using (topic, partition) where next_offset > at`,
    values: [
      streams.map(({ index }) => index),
      streams.map(({ stream }) => stream),
      streams.map(({ version }) => version),
      logs.map(({ index }) => index),
      logs.map(({ topic }) => topic),
      logs.map(({ partition }) => partition),
      logs.map(({ offset }) => offset),
    ],
  })
  return new Map(rows.map(({ index }) => [positions[index] ?? '', true]))
}
