import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { Batch, EventLog, LogUnreadable } from '../../platform/log/event-log.ts'
import { schemaLock } from '../../platform/postgres/locks.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { tryWithLock } from '../../platform/postgres/with-lock.ts'
import { repeat } from '../../platform/repeat.ts'
import type { Signals } from '../../platform/signals.ts'
import type { WakeUps } from '../../schemas/wake-ups.ts'
import type { TopicProjection } from '../projection.ts'
import {
  advanceCheckpoints,
  type Checkpoints,
  fillIn,
  LostOwnership,
  loadCheckpoints,
} from './checkpoint.ts'
import { openInbox } from './inbox.ts'
import { applyIsolated, isPoison } from './poison.ts'

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

/** `unreadable`: by partition, why it is stuck while the others continue. */
type State = RunnerStatus & { unreadable: Map<number, string> }

export type Runner = {
  status(): RunnerStatus
  stop(): Promise<void>
}

/** How often to try for the lock while another process projects, in milliseconds. */
const standbyMs = 500

/**
 * Follows the log of one projection: collects new records, applies them and moves the checkpoint in one
 * transaction, then wakes readers. A failure rolls back, and reading restarts at the stored checkpoint. Only the
 * process with the projection's lock works; the others stand by.
 */
export function startRunner(projection: TopicProjection, deps: RunnerDeps): Runner {
  const state: State = {
    projection: projection.name,
    checkpoints: [],
    halted: null,
    lastAppliedAt: null,
    unreadable: new Map(),
  }
  const following = repeat(
    async signal => {
      const isOurs = await tryWithLock(deps.pool, schemaLock(projection.name), (_, lost) =>
        follow(projection, deps, state, AbortSignal.any([signal, lost])),
      )
      if (!isOurs) {
        // Another process projects now, so whatever halted this one no longer matters.
        state.halted = null
        state.unreadable.clear()
      }
      return standbyMs
    },
    { failed: error => report(error, projection, deps, state), retryMs: { first: 500, most: 500 } },
  )
  return { status: () => statusOf(state), stop: following.stop }
}

const statusOf = ({ unreadable, ...status }: State): RunnerStatus => ({
  ...status,
  halted: status.halted ?? unreadable.values().next().value ?? null,
})

function report(
  error: unknown,
  { name }: TopicProjection,
  { logger }: RunnerDeps,
  state: State,
): void {
  if (error instanceof LostOwnership) {
    logger.info({ projection: name }, 'projection taken over')
    return
  }
  state.halted = error instanceof Error ? error.message : String(error)
  logger.error({ err: error, projection: name }, 'projection failed, will retry')
}

async function follow(
  projection: TopicProjection,
  deps: RunnerDeps,
  state: State,
  signal: AbortSignal,
): Promise<void> {
  const ends = await deps.log.end(projection.topic)
  projection.reset()
  await fillIn(deps.pool, projection)
  let checkpoints = await loadCheckpoints(deps.pool, projection, ends.length)
  state.checkpoints = checkpoints.next
  // With nothing to apply, no success would show that an outage is over.
  if (ends.every((end, partition) => (checkpoints.next[partition] ?? 0n) >= end))
    state.halted = null
  state.unreadable.clear()
  const inbox = openInbox(deps.log, projection.topic, checkpoints.next, {
    signal,
    worthwhileBytes: projection.worthwhileBytes,
    unreadable: (partition, why) => noteUnreadable(projection, deps, state, { partition, why }),
  })
  try {
    while (!signal.aborted) {
      const batches = await inbox.take()
      if (batches.length === 0) continue
      const after = sumOf(checkpoints)
      checkpoints = await applyBatches(projection, deps, batches, checkpoints)
      state.checkpoints = checkpoints.next
      state.halted = null
      state.lastAppliedAt = new Date()
      const upTo = sumOf(checkpoints)
      deps.signals.publish('projected', {
        projection: projection.name,
        keys: keysOf(batches),
        after,
        upTo,
      })
    }
  } finally {
    await inbox.close()
  }
}

const sumOf = ({ next }: Checkpoints) => Number(next.reduce((sum, offset) => sum + offset, 0n))

/** Logged once, not at every attempt. */
function noteUnreadable(
  { name }: TopicProjection,
  { logger }: RunnerDeps,
  { unreadable }: State,
  { partition, why }: { partition: number; why: LogUnreadable | null },
): void {
  if (why === null) {
    if (unreadable.delete(partition)) logger.info({ projection: name, partition }, 'readable again')
    return
  }
  if (!unreadable.has(partition))
    logger.error({ err: why, projection: name, partition }, 'the log cannot be read, will retry')
  unreadable.set(partition, why.message)
}

const keysOf = (batches: readonly Batch[]) => [
  ...new Set(batches.flatMap(batch => batch.records.map(record => record.key))),
]

/**
 * Applies the batches and moves the checkpoint atomically. Returns the new checkpoints. The checkpoint comes first:
 * a rebuild about to flip locks it as well, and must not wait for a transaction that waits for it.
 */
export async function applyBatches(
  projection: TopicProjection,
  deps: Pick<RunnerDeps, 'pool' | 'onDeadLetter' | 'logger'>,
  batches: readonly Batch[],
  checkpoints: Checkpoints,
): Promise<Checkpoints> {
  try {
    return await inTransaction(deps.pool, async tx => {
      const moved = await advanceCheckpoints(tx, projection, batches, checkpoints)
      await projection.apply(tx, batches)
      return moved
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
      const moved = await advanceCheckpoints(tx, projection, batches, checkpoints)
      await applyIsolated(tx, projection, batches, deps.onDeadLetter)
      return moved
    })
  }
}
