import type { Pool } from 'pg'
import type { EventLog } from '../../platform/log/event-log.ts'
import { repeat } from '../../platform/repeat.ts'
import type { Clock } from '../../platform/time.ts'
import type { TopicProjection } from '../projection.ts'

export type LagWatch = {
  /** How long the oldest record of the log has been waiting for this projection, in milliseconds; 0 if none is. */
  lagMs(projection: string): number
  stop(): Promise<void>
}

export type LagDeps = {
  /** Connections whose search path is the read schema. */
  pool: Pool
  log: Pick<EventLog, 'end'>
  projections: readonly Pick<TopicProjection, 'name' | 'topic'>[]
  now: Clock
}

/** The ends of the log's partitions at a point in time. */
type Mark = { atMs: number; ends: readonly bigint[] }

const everyMs = 1_000
/** Beyond this, every other mark is dropped: long lags are reported less precisely. */
const mostMarks = 600

/**
 * Records every second where the log ends. A projection's lag is the age of the oldest recorded end that it has not
 * reached, no matter which process projects; it grows while the log is unavailable.
 */
export function watchLag(deps: LagDeps): LagWatch {
  const marks = new Map<string, Mark[]>(deps.projections.map(({ name }) => [name, []]))
  const look = async () => {
    const reached = await readCheckpoints(deps.pool)
    const atMs = deps.now().getTime()
    const all = await Promise.all(
      deps.projections.map(async ({ name, topic }) => ({ name, ends: await deps.log.end(topic) })),
    )
    for (const { name, ends } of all) {
      const mark = { atMs, ends }
      const next = reached.get(name) ?? new Map()
      const waiting = [...(marks.get(name) ?? []), mark].filter(
        ({ ends }) => !isReached(ends, next),
      )
      marks.set(
        name,
        waiting.length > mostMarks ? waiting.filter((_, nth) => nth % 2 === 0) : waiting,
      )
    }
    return everyMs
  }
  const looking = repeat(look, { failed: () => {}, retryMs: { first: everyMs, most: everyMs } })
  return {
    lagMs(projection) {
      const [oldest] = marks.get(projection) ?? []
      return oldest ? Math.max(0, deps.now().getTime() - oldest.atMs) : 0
    },
    stop: looking.stop,
  }
}

type Reached = ReadonlyMap<number, bigint>

const isReached = (ends: readonly bigint[], next: Reached): boolean =>
  ends.every((end, partition) => (next.get(partition) ?? 0n) >= end)

async function readCheckpoints(pool: Pool): Promise<Map<string, Reached>> {
  const { rows } = await pool.query<{ projection: string; partition: number; next: string }>({
    name: 'lag_checkpoints',
    text: 'select projection, partition, next_offset::text as next from projection_checkpoint',
  })
  const reached = new Map<string, Map<number, bigint>>()
  for (const { projection, partition, next } of rows) {
    const of = reached.get(projection) ?? new Map()
    reached.set(projection, of.set(partition, BigInt(next)))
  }
  return reached
}
