import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { EventLog } from '../../platform/log/event-log.ts'
import { repeat } from '../../platform/repeat.ts'
import type { TopicProjection } from '../projection.ts'
import type { Checkpoints } from '../runner/checkpoint.ts'
import { applyBatches } from '../runner/runner.ts'

export type ReplayDeps = {
  /** Connections whose search path is the new generation. */
  pool: Pool
  log: EventLog
  logger: Logger
  signal: AbortSignal
}

/** One projection of the new generation, with its progress. */
export type Replay = {
  projection: TopicProjection
  checkpoints: Checkpoints
  /** The end of each partition, as last read. */
  end: readonly bigint[]
}

/** Records were trimmed before they were replayed, so the new generation lacks them. */
export class ReplayOutrun extends Error {
  constructor(topic: string, partition: number, from: bigint) {
    super(
      `Partition ${partition} of ${topic} was trimmed past ${from} before that was replayed; begin the rebuild again`,
    )
    this.name = 'ReplayOutrun'
  }
}

/** Bytes applied and committed together. Requests to this process wait while they are decoded. */
const maxReadBytes = 512 * 1024
/** How often a waiting replay checks that its records were not trimmed, in milliseconds. */
const watchMs = 5_000

/** Replays one partition up to `end`, from its checkpoint. */
export async function replayTo(
  deps: ReplayDeps,
  replay: Replay,
  { partition, end }: { partition: number; end: bigint },
): Promise<void> {
  const { projection } = replay
  const at = () => replay.checkpoints.next[partition] ?? 0n
  if (at() >= end) return
  const closing = new AbortController()
  const outrun = () => new ReplayOutrun(projection.topic, partition, at())
  const look = async () => {
    const starts = await deps.log.start(projection.topic)
    if ((starts[partition] ?? 0n) > at()) closing.abort(outrun())
    return watchMs
  }
  const watch = repeat(look, {
    failed: error => deps.logger.warn({ err: error }, 'the log could not be asked where it begins'),
  })
  try {
    for await (const batch of deps.log.read(projection.topic, partition, at(), {
      maxBytes: maxReadBytes,
      signal: AbortSignal.any([deps.signal, closing.signal]),
    })) {
      // Offsets are dense, so a gap means that records were trimmed.
      if (batch.records[0]?.offset !== at()) throw outrun()
      const records = batch.records.filter(record => record.offset < end)
      replay.checkpoints = await applyBatches(
        projection,
        { ...deps, onDeadLetter: () => {} },
        [{ ...batch, records }],
        replay.checkpoints,
      )
      // Only the signal ends the read; leaving the loop would not.
      if (at() >= end) closing.abort(null)
    }
  } finally {
    await watch.stop()
  }
  if (closing.signal.reason instanceof ReplayOutrun) throw closing.signal.reason
}
