import type { Pool } from 'pg'
import type { EventLog } from '../../platform/log/event-log.ts'
import type { Clock } from '../../platform/time.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import type { TopicProjection } from '../projection.ts'
import type { Runner } from '../runner/runner.ts'
import type { RebuildDeps } from './rebuild.ts'
import { rebuild } from './rebuild.ts'

export type AdminDeps = {
  readPool: Pool
  log: EventLog
  runners: readonly Runner[]
  now: Clock
  rebuild: Omit<RebuildDeps, 'onProgress'>
}

type Status = {
  state: 'idle' | 'running' | 'succeeded' | 'failed'
  done_records: number
  total_records: number
  started_at: string | null
  ended_at: string | null
  error: string | null
}

const idle: Status = {
  state: 'idle',
  done_records: 0,
  total_records: 0,
  started_at: null,
  ended_at: null,
  error: null,
}

/** The administrators' view of the projector, and the rebuild that they can start. */
export function projectionAdmin(deps: AdminDeps) {
  let status = idle
  return {
    list: async () => {
      const rows = []
      for (const projection of deps.rebuild.projections())
        rows.push(await describe(deps, projection))
      return rows
    },
    rebuildStatus: () => status,
    beginRebuild(): boolean {
      if (status.state === 'running') return false
      status = { ...idle, state: 'running', started_at: toTimestamp(deps.now()) }
      const onProgress = (done: bigint, total: bigint) => {
        status = { ...status, done_records: Number(done), total_records: Number(total) }
      }
      const ended = (state: Status['state'], error: string | null) => {
        status = { ...status, state, error, ended_at: toTimestamp(deps.now()) }
      }
      rebuild({ ...deps.rebuild, onProgress }).then(
        () => ended('succeeded', null),
        error => {
          deps.rebuild.logger.error({ err: error }, 'rebuild failed')
          ended('failed', error instanceof Error ? error.message : String(error))
        },
      )
      return true
    },
  }
}

async function describe(deps: AdminDeps, { name, topic }: TopicProjection) {
  const ends = await deps.log.end(topic)
  const { rows } = await deps.readPool.query(
    `select partition, next_offset, (select number from generation) as generation
       from projection_checkpoint where projection = $1 order by partition`,
    [name],
  )
  const { rows: parked } = await deps.readPool.query(
    'select count(*) as parked from dead_letter where topic = $1',
    [topic],
  )
  const status = deps.runners.map(runner => runner.status()).find(s => s.projection === name)
  const partitions = rows.map(row => ({
    partition: row.partition,
    next_offset: row.next_offset,
    end: Number(ends[row.partition] ?? 0n),
  }))
  return {
    name,
    topic,
    generation: rows[0]?.generation ?? 0,
    partitions,
    lag_records: partitions.reduce((sum, p) => sum + Math.max(0, p.end - p.next_offset), 0),
    parked: parked[0]?.parked ?? 0,
    halted: status?.halted ?? null,
    last_applied_at: status?.lastAppliedAt ? toTimestamp(status.lastAppliedAt) : null,
  }
}
