import { AsyncLocalStorage } from 'node:async_hooks'
import type { Pool, PoolClient } from 'pg'
import type { Actor, Event, EventDefinition, Recorded, Stamped } from '../../events/event.ts'
import { upcast } from '../../events/upcast.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import type { Kind } from '../kind.ts'
import { toEventJson } from './event-json.ts'
import type { DutiesOf, NewDuty } from './new-duty.ts'
import { changesOf, type ResourceChanges, savingsOf } from './resources.ts'
import { statementOf } from './rows-statement.ts'

export type Transaction = PoolClient

/** Who, for which request, and when: becomes the envelope of each event. */
export type Stamp = {
  actor: Actor
  requestId: string
  now: Date
  causationId?: string
}

export type Loaded<E extends Event> = {
  /** All events, or those after the snapshot. */
  events: Stamped<E>[]
  version: number
  /** In the requested shape; null if there is none. */
  snapshot: { state: unknown } | null
}

export type Append = {
  stream: string
  /** The version the decision was based on; 0 for a new stream. */
  expectedVersion: number
  events: readonly Event[]
  stamp: Stamp
}

/** Another writer appended to the stream first: load and decide again. */
export class ConcurrentWrite extends Error {}

export type EventStore = {
  load<E extends Event>(
    stream: string,
    tx?: Transaction,
    snapshot?: { shape: number },
  ): Promise<Loaded<E>>
  /** Appends in the caller's transaction; throws `ConcurrentWrite` if the version has changed. */
  append(tx: Transaction, append: Append): Promise<void>
  /** The same for several streams, in one statement. */
  appendAll(tx: Transaction, appends: readonly Append[]): Promise<void>
  /**
   * Commits what `work` does, or nothing; wakes the relay after the commit. Must not be nested: the inner one would
   * wait for locks of the outer one on another connection, a deadlock that PostgreSQL cannot see.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
}

export type EventStoreDeps = {
  pool: Pool
  definitions: readonly EventDefinition[]
  newEventId: () => string
  /** Called after each commit that may have appended. */
  committed: () => void
  /** Derives the duties of an event, which are inserted with it; absent: no duties. */
  dutiesOf?: DutiesOf
  /** Maintains `write.resource` and `write.use`; absent: nothing does. */
  kinds?: readonly Kind[]
  /** Called after each commit that inserted duties. */
  dutiesAdded?: () => void
  /** Called with the events of each commit, once they are visible to everybody. */
  recorded?: (events: readonly Event[]) => void
}

/** Set in everything called from within a transaction, however deep. */
const isOpen = new AsyncLocalStorage<{ hasDuties: boolean; events: Event[] }>()

const eventColumns = 'stream_version, type, schema_version, data, meta, occurred_at'

const loadWhole = {
  name: 'load_stream',
  text: `select ${eventColumns} from write.event where stream = $1 order by stream_version`,
}

/** The snapshot comes first, as a row without a type. */
const loadFromSnapshot = {
  name: 'load_stream_from_snapshot',
  text: `with snapshot as materialized (
           select version, state from write.snapshot where stream = $1 and shape = $2)
         select version as stream_version, null as type, null as schema_version, state as data,
                null as meta, null as occurred_at from snapshot
         union all
         select ${eventColumns} from write.event
          where stream = $1 and stream_version > coalesce((select version from snapshot), 0)
          order by stream_version`,
}

export function postgresEventStore(deps: EventStoreDeps): EventStore {
  const { pool, committed, dutiesOf = () => [], kinds = [] } = deps
  const definitions = new Map(deps.definitions.map(definition => [definition.type, definition]))
  const definitionOf = (type: string): EventDefinition => {
    const definition = definitions.get(type)
    if (!definition) throw new Error(`event type ${type} is not listed in events/all.ts`)
    return definition
  }

  const rowsOf = ({ stream, expectedVersion, events, stamp }: Append): Row[] =>
    events.map((event, index) => ({
      event_id: deps.newEventId(),
      stream,
      stream_version: expectedVersion + 1 + index,
      type: event.type,
      schema_version: definitionOf(event.type).schema_version,
      data: event.data,
      stamp,
    }))
  const appendAll: EventStore['appendAll'] = async (tx, appends) => {
    const rows = appends.flatMap(rowsOf)
    const json = rows.map((row, nth) => rowJson(definitionOf(row.type), row, nth))
    const duties = rows.flatMap(row => dutiesOf(recordedOf(row)))
    const open = isOpen.getStore()
    if (open && duties.length > 0) open.hasDuties = true
    for (const { events } of appends) open?.events.push(...events)
    try {
      await insert(tx, `[${json.join()}]`, { duties, changes: changedBy(kinds, rows) })
    } catch (error) {
      if (isVersionClash(error))
        throw new ConcurrentWrite(appends.map(versionOf).join(' or '), { cause: error })
      throw error
    }
  }

  return {
    async load<E extends Event>(
      stream: string,
      tx?: Transaction,
      snapshot?: { shape: number },
    ): Promise<Loaded<E>> {
      const { rows } = await (tx ?? pool).query(
        snapshot
          ? { ...loadFromSnapshot, values: [stream, snapshot.shape] }
          : { ...loadWhole, values: [stream] },
      )
      const events = rows.filter(row => row.type !== null)
      return {
        events: events.map(row => ({
          ...({ type: row.type, data: upcast(definitionOf(row.type), row) } as E),
          occurred_at: row.occurred_at.toISOString(),
          actor: row.meta.actor,
        })),
        version: rows.at(-1)?.stream_version ?? 0,
        snapshot: rows.length > events.length ? { state: rows[0].data } : null,
      }
    },

    append: (tx, append) => appendAll(tx, [append]),
    appendAll,

    async transaction(work) {
      if (isOpen.getStore()) throw new Error('a transaction was begun within another one')
      const open = { hasDuties: false, events: [] as Event[] }
      const result = await inTransaction(pool, tx => isOpen.run(open, () => work(tx)))
      committed()
      if (open.hasDuties) deps.dutiesAdded?.()
      if (open.events.length > 0) deps.recorded?.(open.events)
      return result
    },
  }
}

const insertEvents = {
  name: 'append_events',
  text: `insert into write.event (event_id, stream, stream_version, type, schema_version, data, meta, occurred_at)
         select event_id, stream, stream_version, type, schema_version, data, meta, occurred_at
           from jsonb_to_recordset($1)
             as row(nth int, event_id uuid, stream text, stream_version int, type text, schema_version int, data jsonb,
                    meta jsonb, occurred_at timestamptz)
          order by nth`,
}

const insertDuties = {
  name: 'add_duties',
  text: `insert into write.duty (duty_id, reactor, cause, event_id, request_id, payload, created_at, due_at)
         select duty_id, reactor, cause, event_id, request_id, payload, created_at, due_at
           from jsonb_to_recordset($1)
             as row(duty_id uuid, reactor text, cause text, event_id uuid, request_id text, payload jsonb,
                    created_at timestamptz, due_at timestamptz)
             on conflict do nothing`,
}

type Following = { duties: readonly NewDuty[]; changes: ResourceChanges | null }

/** Whatever can go with the events goes in their statement, so that it costs no further round trip. */
async function insert(tx: Transaction, events: string, { duties, changes }: Following) {
  const { together, after } = changes ? savingsOf(changes) : { together: [], after: [] }
  await tx.query(
    statementOf([
      { ...insertEvents, rows: events },
      ...(duties.length === 0 ? [] : [{ ...insertDuties, rows: JSON.stringify(duties) }]),
      ...together,
    ]),
  )
  // Sent one at a time: the driver would only queue them, and its next version refuses that.
  for (const saving of after) await tx.query(saving)
}

const changedBy = (kinds: readonly Kind[], rows: readonly Row[]): ResourceChanges | null =>
  changesOf(
    kinds,
    rows.map(({ type, data, stamp }) => ({ type, data, at: stamp.now })),
  )

type Row = Pick<
  Recorded,
  'event_id' | 'stream' | 'stream_version' | 'type' | 'schema_version' | 'data'
> & { stamp: Stamp }

/** Serialized only once: the data may be long, and their size is checked too. */
function rowJson(definition: EventDefinition, { data, stamp, ...place }: Row, nth: number): string {
  const row = { ...place, nth, meta: metaOf(stamp), occurred_at: stamp.now }
  const json = toEventJson(definition, { type: place.type, data })
  return `${JSON.stringify(row).slice(0, -1)},"data":${json}}`
}

const metaOf = ({ actor, requestId, causationId }: Stamp) => ({
  actor,
  request_id: requestId,
  causation_id: causationId ?? null,
})

const versionOf = ({ stream, expectedVersion }: Append) =>
  `${stream} is past version ${expectedVersion}`

const isVersionClash = (error: unknown): boolean =>
  error instanceof Error &&
  'constraint' in error &&
  error.constraint === 'event_stream_stream_version_key'

const recordedOf = ({ stamp, ...row }: Row): Recorded => ({
  ...row,
  occurred_at: stamp.now.toISOString(),
  ...metaOf(stamp),
})

/** An event as on the log, without its data. */
export type Envelope = Omit<Recorded, 'data'>

/** The envelope of a row of `write.event`. */
export function envelopeOf(row: {
  event_id: string
  type: string
  schema_version: number
  stream: string
  stream_version: number
  meta: { actor: Actor; request_id: string; causation_id: string | null }
  occurred_at: Date
}): Envelope {
  const { event_id, type, schema_version, stream, stream_version, meta, occurred_at } = row
  return {
    ...{ event_id, type, schema_version, stream, stream_version },
    occurred_at: occurred_at.toISOString(),
    ...meta,
  }
}
