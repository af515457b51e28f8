import type { Pool } from 'pg'
import { createBell } from '../platform/bell.ts'
import { type ForgePosition, parsePosition } from '../platform/position.ts'
import type { Signals } from '../platform/signals.ts'
import type { WakeUps } from '../schemas/wake-ups.ts'

/** How long a read waits for a write it should show; after that it returns what there is. */
const maxWaitMs = 2000
/** Polling, because the signals of other processes may be lost. */
const pollMs = 25

/** Resolves with whether the read models reached these positions in time. */
export type WaitFor = (positions: readonly string[]) => Promise<boolean>

export function createWaiter(pool: Pool, signals: Signals<WakeUps>): WaitFor {
  return async positions => {
    const awaited = positions.flatMap(position => parsePosition(position) ?? [])
    if (awaited.length === 0 || (await allReached(pool, awaited))) return true
    const bell = createBell()
    const unsubscribe = signals.subscribe('projected', bell.ring)
    const timeout = AbortSignal.timeout(maxWaitMs)
    try {
      while (!timeout.aborted) {
        await bell.wait(pollMs, timeout)
        if (await allReached(pool, awaited)) return true
      }
      return false
    } finally {
      unsubscribe()
    }
  }
}

async function allReached(pool: Pool, awaited: readonly ForgePosition[]): Promise<boolean> {
  for (const one of awaited) if (!(await reached(pool, one))) return false
  return true
}

async function reached(pool: Pool, awaited: ForgePosition): Promise<boolean> {
  const { rowCount } =
    awaited.kind === 'stream'
      ? await pool.query({
          name: 'wait_stream',
          text: 'select 1 from stream_head where stream = $1 and version >= $2',
          values: [awaited.stream, awaited.version],
        })
      : await pool.query({
          name: 'wait_log',
          text: `select 1 from projection_checkpoint
                  where topic = $1 and partition = $2 and next_offset > $3`,
          values: [awaited.topic, awaited.partition, awaited.offset],
        })
  return rowCount !== 0
}

/** A text that changes whenever a projection has advanced. */
export async function projectionProgress(pool: Pool): Promise<string> {
  const { rows } = await pool.query({
    name: 'projection_progress',
    text: 'select sum(next_offset)::text as progress from projection_checkpoint',
  })
  return String(rows[0]?.progress)
}
