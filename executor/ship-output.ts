import type { FactStamp, UnstampedFact } from '../events/fact.ts'
import type { NodeOfRank } from '../events/jobs.ts'
import { encodeLogs } from '../events/logs.ts'
import { isLogAway, type LogUnavailable } from '../platform/log/event-log.ts'
import type { ActiveAttempt, JobCommands } from './job-commands.ts'
import type { AttemptRef, Executor, Offsets, OutputPiece } from './port.ts'

export type ShipDeps = {
  executor: Executor
  commands: JobCommands
  /** Bounded by this process's unacknowledged bytes; resolves once the log has all of them. */
  appendFacts: (
    topic: string,
    stamp: FactStamp,
    facts: readonly UnstampedFact[],
  ) => Promise<unknown>
  logsTopic: string
  now: () => Date
}

const maxPieceBytes = 256 * 1024
/** A limit per pass, so that one verbose run does not delay the others. */
const maxPiecesAtOnce = 8

/**
 * Appends an attempt's output to the log, continuing where the last call stopped. The pieces carry byte offsets: if
 * a crash hits between the log's acknowledgement and our record of it, they are sent again and the projection
 * drops the repeats. Returns whether all output so far is on the log.
 */
export async function shipOutput(
  deps: ShipDeps,
  ref: AttemptRef,
  attempt: ActiveAttempt,
  nodes: readonly NodeOfRank[] | null,
): Promise<{ complete: boolean; shipped: Offsets }> {
  let { shipped } = attempt
  for (let round = 0; round < maxPiecesAtOnce; round++) {
    const pieces = await deps.executor.output(ref, shipped, maxPieceBytes)
    if (pieces.length === 0) return { complete: true, shipped }
    await deps.appendFacts(
      deps.logsTopic,
      { ...stamp, now: deps.now() },
      pieces.map(piece => toFact(attempt, { ...piece, node: nodeOf(piece, nodes) })),
    )
    for (const piece of pieces) shipped = advanced(shipped, piece)
    await deps.commands.shipped(attempt.run_id, attempt.attempt, shipped)
  }
  return { complete: false, shipped }
}

/**
 * Marks where the streams of an ended attempt end, each by a piece without bytes: a last line without a line break is
 * complete then, and readers need not wait for the end of the log.
 */
export async function endOutput(
  deps: Pick<ShipDeps, 'appendFacts' | 'logsTopic' | 'now'>,
  attempt: ActiveAttempt,
  shipped: Offsets,
  nodes: readonly NodeOfRank[] | null,
): Promise<void> {
  const ends = shipped.flatMap((offsets, rank) =>
    (['stdout', 'stderr'] as const).flatMap(stream => {
      const offset = offsets[stream]
      const piece = { rank, stream, offset, bytes: Buffer.alloc(0) }
      return offset === 0 ? [] : [toFact(attempt, { ...piece, node: nodeOf(piece, nodes) })]
    }),
  )
  if (ends.length > 0) await deps.appendFacts(deps.logsTopic, { ...stamp, now: deps.now() }, ends)
}

/** The offsets after a piece. */
function advanced(from: Offsets, { rank, stream, offset, bytes }: OutputPiece): Offsets {
  return Array.from({ length: Math.max(from.length, rank + 1) }, (_, index) => {
    const before = from[index] ?? { stdout: 0, stderr: 0 }
    return index === rank ? { ...before, [stream]: offset + bytes.length } : before
  })
}

const nodeOf = ({ rank }: Pick<OutputPiece, 'rank'>, nodes: readonly NodeOfRank[] | null) =>
  nodes?.find(node => node.rank === rank)?.node ?? null

/** Refuses at once after an append found the log away: each further one would wait up to 10 s for the same. */
export function leftAloneOnceAway(append: ShipDeps['appendFacts']): ShipDeps['appendFacts'] {
  let away: LogUnavailable | null = null
  return async (topic, by, facts) => {
    if (away) throw away
    try {
      return await append(topic, by, facts)
    } catch (error) {
      if (isLogAway(error)) away = error
      throw error
    }
  }
}

const stamp = {
  actor: { type: 'system', id: 'executor', via: 'output' },
  requestId: 'executor',
} as const

function toFact(
  { run_id, attempt, nodes }: ActiveAttempt,
  { rank, node, stream, offset, bytes }: OutputPiece & { node: string | null },
): UnstampedFact {
  // A single node needs no label.
  const place = nodes === 1 ? { node: null, rank: null } : { node, rank }
  const body = encodeLogs({ origin: 'output', ...place, stream, offset, bytes })
  return { type: 'logs.appended', run_id, attempt, body }
}
