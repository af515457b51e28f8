import type { Pool } from 'pg'
import { aggregates } from '../../events/all.ts'
import type { Aggregate, Stamped } from '../../events/event.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { AuditDiff, AuditState } from '../../schemas/audit.ts'
import { toExactTimestamp } from '../../schemas/timestamp.ts'
import { differences } from './differences.ts'
import { columns, current, type StoredEvent, toRow } from './events.ts'
import { streamOf, targetOf } from './target.ts'

/** Events per query. */
const perBatch = 1000
/** Maximum number of events shown between two instants. */
const maxEvents = 500

/** The state of a target at an instant; null if the target never existed. */
export async function stateAt(
  pool: Pool,
  { target, at }: { target: string; at: string },
): Promise<AuditState | null> {
  const version = await versionAt(pool, target, at)
  if (version === null) return null
  return { target, at: shown(at), version, state: await fold(pool, target, version) }
}

/** The differences of a target between two instants, and the events that caused them. */
export async function diffBetween(
  pool: Pool,
  { target, from, to }: { target: string; from: string; to: string },
): Promise<AuditDiff | null> {
  const [before, after] = [await versionAt(pool, target, from), await versionAt(pool, target, to)]
  if (before === null || after === null) return null
  const changes = differences(await fold(pool, target, before), await fold(pool, target, after))
  const between = { after: before, through: Math.min(after, before + maxEvents) }
  const events = await readEvents(pool, target, between)
  return {
    target,
    from: shown(from),
    to: shown(to),
    changes,
    event_count: after - before,
    events: events.map(toRow),
  }
}

const shown = (text: string) => toExactTimestamp(new Date(text))

/**
 * The first instant after `at`. Rows show whole seconds, so a time without a fraction means its whole second: the
 * time shown for a row must include the row.
 */
const justAfter = (at: string): Date =>
  new Date(new Date(at).getTime() + (/\.\d/.test(at) ? 1 : 1000))

/** The newest version at this instant, 0 before the first; null if there is no such stream. */
async function versionAt(pool: Pool, target: string, at: string): Promise<number | null> {
  const { rows } = await pool.query<{ newest: number | null; version: number }>(
    `select max(stream_version) as newest,
            coalesce(max(stream_version) filter (where occurred_at < $2), 0) as version
       from write.event where stream = $1`,
    [streamOf(target), justAfter(at)],
  )
  const [found] = rows
  return found && found.newest !== null ? found.version : null
}

const aggregateOf = new Map(aggregates.map(aggregate => [aggregate.name, aggregate]))

/** For kinds that no longer exist: the newest value of each field of its events. */
const newestValues: Pick<Aggregate, 'initial' | 'evolve'> = {
  initial: {},
  evolve: (state, event) => ({ ...(state as object), ...event.data }),
}

/** Null before the first event. */
async function fold(pool: Pool, target: string, version: number): Promise<unknown> {
  if (version === 0) return null
  const { initial, evolve } = aggregateOf.get(targetOf(streamOf(target)).type) ?? newestValues
  let state = initial
  try {
    for (let after = 0; after < version; after += perBatch) {
      const through = Math.min(version, after + perBatch)
      const events = await readEvents(pool, target, { after, through })
      state = events.map(toStamped).reduce(evolve, state)
    }
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause) throw cause // an error of the database
    throw new Refusal(
      'conflict',
      `The events of ${target} cannot be folded: they differ from what was recorded; verify says where`,
      { code: 'audit.not_foldable', cause },
    )
  }
  return plain(state)
}

const toStamped = (stored: StoredEvent): Stamped<{ type: string; data: object }> => ({
  ...current(stored),
  occurred_at: stored.occurred_at.toISOString(),
  actor: stored.meta.actor,
})

/** The state as JSON, with maps as objects. */
const plain = (state: unknown): unknown =>
  JSON.parse(
    JSON.stringify(state, (_, value) => (value instanceof Map ? Object.fromEntries(value) : value)),
  )

async function readEvents(
  pool: Pool,
  target: string,
  { after, through }: { after: number; through: number },
): Promise<StoredEvent[]> {
  const { rows } = await pool.query<StoredEvent>(
    `select ${columns} from write.event
      where stream = $1 and stream_version > $2 and stream_version <= $3 order by stream_version`,
    [streamOf(target), after, through],
  )
  return rows
}
