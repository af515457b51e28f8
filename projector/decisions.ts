import { Kysely, PostgresDialect } from 'kysely'
import type { PoolClient } from 'pg'
import type { Event, EventDefinition, Recorded } from '../events/event.ts'
import { upcast } from '../events/upcast.ts'
import type { Batch } from '../platform/log/event-log.ts'
import { applyWithNewRows, type NewRows } from './new-rows.ts'
import type { DecisionProjection, TopicProjection } from './projection.ts'
import { cutAtPurges } from './purged-runs.ts'

type AnyHandler = (tx: Kysely<unknown>, event: Recorded) => Promise<unknown>

/** The projection of a slice that applies events one by one, except that new rows may be stored together. */
export function decisions<E extends Event>(
  handlers: object,
  newRows?: NewRows<E>,
): DecisionProjection {
  const handlerOf = handlers as Record<string, AnyHandler>
  return {
    types: Object.keys(handlers),
    async apply(tx, events) {
      const applyOne = async (event: Recorded) => await handlerOf[event.type]?.(tx, event)
      if (newRows) await applyWithNewRows(tx, events as readonly Recorded<E>[], newRows, applyOne)
      else for (const event of events) await applyOne(event)
    },
  }
}

/** About 20 new jobs: applying them delays requests to this process for a millisecond or two. */
const worthwhileBytes = 88 * 1024

/**
 * The projection of all decisions: drops events that the relay published twice, upcasts old ones, and passes each
 * to the handlers of every slice.
 */
export function decisionsProjection(
  topic: string,
  slices: readonly DecisionProjection[],
  definitions: readonly EventDefinition[],
): TopicProjection {
  const definitionOf = new Map(definitions.map(definition => [definition.type, definition]))
  const typesOf = new Map(slices.map(slice => [slice, new Set(slice.types)]))
  return {
    name: 'decisions',
    topic,
    worthwhileBytes,
    onPoison: 'halt',
    carryOver: null,
    reset() {},
    async applyParked() {
      throw new Error('decisions are never parked')
    },
    fillIn: fillInApplied,
    async apply(tx, batches) {
      const db = kyselyOn(tx)
      const events = decode(batches, definitionOf)
      const heads = await loadHeads(tx, [...new Set(events.map(event => event.stream))])
      const before = await loadApplied(tx, events, heads)
      const applied = new Set<string>()
      const next = events.filter(event => {
        const isNew = isNext(event, heads, id => applied.has(id) || before.has(id))
        if (isNew) applied.add(event.event_id)
        return isNew
      })
      for (const part of cutAtPurges(next))
        for (const [slice, types] of typesOf) {
          const its = part.filter(event => types.has(event.type))
          if (its.length > 0) await slice.apply(db, its)
        }
      await saveHeads(tx, heads)
      await saveApplied(tx, [...applied])
    },
  }
}

/** False for an event that was published before; otherwise records the new head. */
function isNext(
  { event_id, stream, stream_version }: Recorded,
  heads: Map<string, number>,
  wasApplied: (id: string) => boolean,
): boolean {
  const head = heads.get(stream) ?? 0
  if (stream_version <= head) {
    if (wasApplied(event_id)) return false
    throw new Error(
      `version ${stream_version} of ${stream} is event ${event_id} and was another one before: the database was restored to a time before the end of the log, and the version used again (see docs/operate/backup.md)`,
    )
  }
  if (stream_version !== head + 1)
    throw new Error(`${stream} jumps from version ${head} to ${stream_version}`)
  heads.set(stream, stream_version)
  return true
}

function decode(batches: readonly Batch[], definitionOf: Map<string, EventDefinition>): Recorded[] {
  return batches.flatMap(batch =>
    batch.records.map(record => {
      const event = JSON.parse(record.value.toString('utf8')) as Recorded
      const definition = definitionOf.get(event.type)
      if (!definition) throw new Error(`no event is called ${event.type}`)
      return { ...event, data: upcast(definition, event) }
    }),
  )
}

async function loadHeads(tx: PoolClient, streams: string[]): Promise<Map<string, number>> {
  const { rows } = await tx.query({
    text: 'select stream, version from stream_head where stream = any($1)',
    values: [streams],
  })
  return new Map(rows.map(row => [row.stream, row.version]))
}

async function saveHeads(tx: PoolClient, heads: Map<string, number>): Promise<void> {
  await tx.query({
    text: `insert into stream_head (stream, version) select * from unnest($1::text[], $2::int[])
           on conflict (stream) do update set version = excluded.version where stream_head.version < excluded.version`,
    values: [[...heads.keys()], [...heads.values()]],
  })
}

/** The ids of the events that really are repeats, among the candidates. */
async function loadApplied(
  tx: PoolClient,
  events: readonly Recorded[],
  heads: Map<string, number>,
): Promise<Set<string>> {
  const repeats = events.filter(one => one.stream_version <= (heads.get(one.stream) ?? 0))
  if (repeats.length === 0) return new Set()
  const { rows } = await tx.query<{ event_id: string }>({
    text: `select id as event_id from unnest($1::text[]) as repeat (id)
            where exists (select from applied_event where event_id = repeat.id::uuid)`,
    values: [repeats.map(one => one.event_id)],
  })
  return new Set(rows.map(row => row.event_id))
}

const saveApplied = (tx: PoolClient, ids: readonly string[]) =>
  tx.query({
    name: 'save_applied',
    text: 'insert into applied_event (event_id) select unnest($1::uuid[])',
    values: [ids],
  })

/**
 * Records the events applied by a projector older than `applied_event`: as many as versions were applied, unless they
 * are already recorded. So a reused version, which must halt the projection, is not recorded in place of the first.
 */
async function fillInApplied(tx: PoolClient): Promise<void> {
  await tx.query(
    `insert into applied_event (event_id)
     select e.event_id from write.event e join stream_head h on h.stream = e.stream and e.stream_version <= h.version
      where (select sum(version) from stream_head) > (select count(*) from applied_event)
     on conflict do nothing`,
  )
}

const instances = new WeakMap<PoolClient, Kysely<unknown>>()

/** Kysely on a connection whose transaction is managed by the caller. */
function kyselyOn(client: PoolClient): Kysely<unknown> {
  let db = instances.get(client)
  if (!db) {
    const query = (text: string, values: unknown[]) =>
      client.query({ name: preparedName(text), text, values })
    const pool = { connect: async () => ({ query, release: () => {} }), end: async () => {} }
    db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: pool as never }) })
    instances.set(client, db)
  }
  return db
}

/** Names of statements that connections keep prepared, by text: planning takes longer than execution. */
const preparedNames = new Map<string, string>()
const maxPrepared = 200

/**
 * Undefined for statements with a result: a prepared one would fail forever after a migration has changed the
 * result's columns.
 */
function preparedName(text: string): string | undefined {
  const known = preparedNames.get(text)
  if (known || !/^(insert|update|delete)\b/i.test(text) || /\breturning\b/i.test(text)) return known
  if (preparedNames.size >= maxPrepared) return undefined
  const name = `projection_${preparedNames.size}`
  preparedNames.set(text, name)
  return name
}
