import { upcast } from '../../command-api/event-store.ts'
import { decisionEvents } from '../../events/all.ts'
import type { Actor, EventDefinition } from '../../events/event.ts'
import type { AuditRow } from '../../schemas/audit.ts'
import { toExactTimestamp, toTimestamp } from '../../schemas/timestamp.ts'
import { summaryOf } from './summaries.ts'
import { targetOf } from './target.ts'

/** A row of `write.event`; `columns` are what it is read with. */
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

/** In today's shape; what is of a type unknown here stays as it was recorded. */
export function current(
  stored: Pick<StoredEvent, 'type' | 'schema_version' | 'data'>,
  known: ReadonlyMap<string, EventDefinition> = definitions,
): { type: string; data: Record<string, unknown> } {
  const definition = known.get(stored.type)
  if (!definition) return { type: stored.type, data: stored.data }
  return { type: stored.type, data: upcast(definition, stored).data as Record<string, unknown> }
}

export function toRow(stored: StoredEvent): AuditRow {
  const { position, event_id, type, stream, stream_version, meta, occurred_at } = stored
  const event = current(stored)
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
    summary: summaryOf(event, meta.actor),
    data: event.data,
  }
}
