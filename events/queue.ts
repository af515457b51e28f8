import { Type } from 'typebox'
import { aggregate, type EventOf, event } from './event.ts'

const reason = Type.Union([Type.String(), Type.Null()])
const because = (text: string | null) => (text === null ? '' : `: ${text}`)

/** From now on no job starts; running ones continue. */
export const queuePaused = event(
  'queue.paused',
  Type.Object({ reason }),
  (data, who) => `${who} paused the queue${because(data.reason)}`,
)

/** Jobs start again. */
export const queueResumed = event(
  'queue.resumed',
  Type.Object({}),
  (_, who) => `${who} resumed the queue`,
)

const queueEvents = [queuePaused, queueResumed] as const
export type QueueEvent = EventOf<(typeof queueEvents)[number]>

/** Null while jobs start. */
export type Closed = { reason: string | null } | null

const evolve = (_: Closed, { data }: QueueEvent | EngineEvent): Closed =>
  'reason' in data ? { reason: data.reason } : null

export const queue = aggregate('queue', { events: queueEvents, initial: null, evolve })
/** One installation has one queue. */
export const queueSwitch = queue.at('switch')

/** From now on no job starts on this engine; running ones continue. It is an executor's name, or a machine's id. */
export const engineDrained = event(
  'engine.drained',
  Type.Object({ engine: Type.String(), reason }),
  (data, who) => `${who} began to drain the engine ${data.engine}${because(data.reason)}`,
)

/** Jobs start there again. */
export const engineUndrained = event(
  'engine.undrained',
  Type.Object({ engine: Type.String() }),
  ({ engine }, who) => `${who} stopped draining the engine ${engine}`,
)

const engineEvents = [engineDrained, engineUndrained] as const
export type EngineEvent = EventOf<(typeof engineEvents)[number]>

export const engines = aggregate('engine', { events: engineEvents, initial: null, evolve })
export const engineAt = (engine: string) => engines.at(engine)
