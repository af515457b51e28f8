import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { aggregates } from '../../events/all.ts'
import type { Aggregate, EventDefinition, Recorded } from '../../events/event.ts'
import { upcast } from '../../events/upcast.ts'
import { targetOf } from '../../query-api/audit/target.ts'

/**
 * One recorded event of each type and version. A file is never changed, because recorded events never are. A new
 * version of an event gets its own file, at the end of the stream it is in.
 */
const folder = join(import.meta.dirname, '../golden/events')
export const files = readdirSync(folder)

export type Golden = {
  file: string
  recorded: Recorded<{ type: string; data: Record<string, unknown> }>
  definition: EventDefinition
  aggregate: Aggregate
}

/** In a possible order of events. */
export const golden = files
  .map((file): Golden => {
    const recorded = JSON.parse(readFileSync(join(folder, file), 'utf8'))
    const kind = targetOf(recorded.stream).type
    const aggregate = aggregates.find(({ name }) => name === kind)
    const definition = aggregate?.events.find(({ type }) => type === recorded.type)
    if (!aggregate || !definition) throw new Error(`${file}: no ${kind} has ${recorded.type}`)
    return { file, recorded, definition, aggregate }
  })
  .sort((a, b) => a.recorded.occurred_at.localeCompare(b.recorded.occurred_at))

/** The state of its stream after each recorded event of an aggregate, by the name of the event's file. */
export function statesAfter({ name, initial, evolve }: Aggregate): Map<string, unknown> {
  const after = new Map<string, unknown>()
  const states = new Map<string, unknown>()
  for (const { file, recorded, definition, aggregate } of golden) {
    if (aggregate.name !== name) continue
    const { stream } = recorded
    const event = { ...recorded, data: upcast(definition, recorded) }
    const state = evolve(states.has(stream) ? states.get(stream) : initial, event)
    states.set(stream, state)
    after.set(file, state)
  }
  return after
}

/** The content of snapshots of this shape after each recorded event; written by `npm run record-states`. */
export type RecordedStates = { shape: number; after: Record<string, unknown> }

export const statesFile = (name: string) =>
  join(import.meta.dirname, '../golden/states', `${name}.json`)
