import { decisionEvents } from '../../events/all.ts'
import type { Actor, EventDefinition } from '../../events/event.ts'
import { upcast } from '../../events/upcast.ts'
import type { AuditRow } from '../../schemas/audit.ts'
import { toExactTimestamp, toTimestamp } from '../../schemas/timestamp.ts'
import { targetOf } from './target.ts'

/** A row of `write.event`, as selected by `columns`. */
export type StoredEvent = {
  position: number
  event_id: string
  stream: string
  stream_version: number
  type: string
  schema_version: number
  data: Record<string, unknown>
  meta: { actor: Actor; request_id: string; causation_id: string | null }
  occurred_at: Date
}
export const columns =
  'position, event_id, stream, stream_version, type, schema_version, data, meta, occurred_at'

const definitions = new Map(decisionEvents.map(definition => [definition.type, definition]))

type Known = ReadonlyMap<string, EventDefinition>
type Today = { type: string; data: Record<string, unknown> }

/** The event in its current version; events of unknown types are returned unchanged. */
export function current(
  { type, schema_version, data }: Pick<StoredEvent, 'type' | 'schema_version' | 'data'>,
  known: Known = definitions,
): Today {
  const definition = known.get(type)
  return { type, data: definition ? upcast(definition, { type, schema_version, data }) : data }
}

/** The displayed data of an event. A tampered event must not prevent reading the others. */
function legible(stored: StoredEvent): { data: Record<string, unknown>; summary: string } {
  try {
    const event = current(stored)
    return { data: event.data, summary: summaryOf(event, stored.meta.actor) }
  } catch {
    const summary = `Somebody caused ${stored.type}, which was changed after it was recorded`
    return { data: stored.data, summary }
  }
}

/** `alice submitted job math-rl-1 …`; for unknown (e.g. former) types only the type. */
function summaryOf({ type, data }: Today, actor: Actor): string {
  const definition = definitions.get(type)
  const who = nameOfActor(actor)
  return definition ? definition.sentence(data, who) : `${who} caused ${type}`
}

function nameOfActor({ type, id }: Actor): string {
  switch (type) {
    case 'user':
      return id
    case 'run':
      return `The code of ${id}`
    case 'system':
      return `Forge (${id})`
  }
}

export function toRow(stored: StoredEvent): AuditRow {
  const { position, event_id, type, stream, stream_version, meta, occurred_at } = stored
  return {
    position,
    event_id,
    type,
    target: targetOf(stream),
    actor: meta.actor,
    at: toTimestamp(occurred_at),
    occurred_at: toExactTimestamp(occurred_at),
    request_id: meta.request_id,
    causation_id: meta.causation_id,
    version: stream_version,
    ...legible(stored),
  }
}
