import type { Pool, PoolClient } from 'pg'
import type { Logger } from 'pino'
import { type Bell, createBell } from '../platform/bell.ts'
import type { Batch, EventLog } from '../platform/log/event-log.ts'
import type { Signals } from '../platform/signals.ts'
import type { WakeUps } from '../schemas/wake-ups.ts'
import {
  advanceCheckpoints,
  type Checkpoints,
  LostOwnership,
  loadCheckpoints,
} from './checkpoint.ts'
import { openInbox } from './inbox.ts'
import { applyIsolated } from './poison.ts'
import type { TopicProjection } from './projection.ts'

export type RunnerDeps = {
  /** Connections whose search path is the read schema. */
  pool: Pool
  log: EventLog
  signals: Signals<WakeUps>
  logger: Logger
  onDeadLetter: (topic: string) => void
}

export type RunnerStatus = {
  projection: string
  /** Next offset of each partition; index = partition. */
  checkpoints: readonly bigint[]
  /** Why the projection is halted, or null. */
  halted: string | null
  lastAppliedAt: Date | null
}

export type Runner = {
  status(): RunnerStatus
  stop(): Promise<void>
}

const backoffMs = 500

/**
 * Follows the log of one projection: collects new records, applies them and moves the checkpoint in one
 * transaction, then wakes readers. A failure rolls back, and reading restarts at the stored checkpoint. Only the
 * process with the projection's lock works; the others stand by.
 */
export function startRunner(projection: TopicProjection, deps: RunnerDeps): Runner {
  const stopping = new AbortController()
  const state: RunnerStatus = {
    projection: projection.name,
    checkpoints: [],
    halted: null,
    lastAppliedAt: null,
  }
  const idle = createBell()
  const running = repeat(stopping.signal, idle, () =>
    attempt(projection, deps, state, stopping.signal),
  )
  return {
    status: () => ({ ...state }),
    async stop() {
      stopping.abort()
      idle.ring()
      await running
    },
  }
}

async function repeat(signal: AbortSignal, idle: Bell, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await work()
    await idle.wait(backoffMs, signal)
  }
}

async function attempt(
  projection: TopicProjection,
  deps: RunnerDeps,
  state: RunnerStatus,
  signal: AbortSignal,
): Promise<void> {
  try {
    await withProjectionLock(projection, deps, signal, () =>
      follow(projection, deps, state, signal),
    )
  } catch (error) {
    if (error instanceof LostOwnership) {
      deps.logger.info({ projection: projection.name }, 'projection taken over')
      return
    }
    state.halted = error instanceof Error ? error.message : String(error)
    deps.logger.error({ err: error, projection: projection.name }, 'projection failed, will retry')
  }
}

async function withProjectionLock(
  projection: TopicProjection,
  deps: RunnerDeps,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  const client = await deps.pool.connect()
  let broken: Error | undefined
  // The lock belongs to this session: once the connection is lost, another process may take over.
  client.once('error', error => {
    broken = error
  })
  try {
    const { rows } = await client.query(
      `select pg_try_advisory_lock(hashtext(current_schema() || '/' || $1)) as held`,
      [projection.name],
    )
    if (!rows[0]?.held || signal.aborted) return
    await work()
    await client.query(`select pg_advisory_unlock(hashtext(current_schema() || '/' || $1))`, [
      projection.name,
    ])
  } catch (error) {
    broken = error as Error
    throw error
  } finally {
    client.release(broken)
  }
}

async function follow(
  projection: TopicProjection,
  deps: RunnerDeps,
  state: RunnerStatus,
  signal: AbortSignal,
): Promise<void> {
  const ends = await deps.log.end(projection.topic)
  projection.reset()
  let checkpoints = await loadCheckpoints(deps.pool, projection, ends.length)
  state.checkpoints = checkpoints.next
  // With nothing to apply, no success would show that an outage is over.
  if (ends.every((end, partition) => (checkpoints.next[partition] ?? 0n) >= end))
    state.halted = null
  const inbox = openInbox(deps.log, projection.topic, checkpoints.next, signal)
  try {
    while (!signal.aborted) {
      const batches = await inbox.take()
      if (batches.length === 0) continue
      checkpoints = await applyBatches(projection, deps, batches, checkpoints)
      state.checkpoints = checkpoints.next
      state.halted = null
      state.lastAppliedAt = new Date()
      deps.signals.publish('projected', { projection: projection.name, keys: keysOf(batches) })
    }
  } finally {
    await inbox.close()
  }
}

const keysOf = (batches: readonly Batch[]) => [
  ...new Set(batches.flatMap(batch => batch.records.map(record => record.key))),
]

/** Applies the batches and moves the checkpoint atomically. Returns the new checkpoints. */
export async function applyBatches(
  projection: TopicProjection,
  deps: Pick<RunnerDeps, 'pool' | 'onDeadLetter' | 'logger'>,
  batches: readonly Batch[],
  checkpoints: Checkpoints,
): Promise<Checkpoints> {
  try {
    return await inTransaction(deps.pool, async tx => {
      await projection.apply(tx, batches)
      return advanceCheckpoints(tx, projection, batches, checkpoints)
    })
  } catch (error) {
    if (projection.onPoison === 'halt' || error instanceof LostOwnership || !isPoison(error))
      throw error
    deps.logger.warn(
      { err: error, projection: projection.name },
      'a record cannot be applied; isolating it',
    )
    projection.reset()
    return inTransaction(deps.pool, async tx => {
      await applyIsolated(tx, projection, batches, deps.onDeadLetter)
      return advanceCheckpoints(tx, projection, batches, checkpoints)
    })
  }
}

/** Connection failures are not the record's fault: they are retried, never parked. */
function isPoison(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return code === '' ? !/connection|timeout/i.test(String(error)) : /^(2[0-9A-Z]|42)/.test(code)
}

async function inTransaction<T>(pool: Pool, work: (tx: PoolClient) => Promise<T>): Promise<T> {
  const tx = await pool.connect()
  let broken: Error | undefined
  try {
    await tx.query('begin')
    const result = await work(tx)
    await tx.query('commit')
    return result
  } catch (error) {
    await tx.query('rollback').catch(cause => {
      broken = cause
    })
    throw error
  } finally {
    tx.release(broken)
  }
}
