import type { Closed, EngineEvent, QueueEvent } from '../../events/queue.ts'

export type SwitchQueue = { paused: boolean; reason: string | null }
export type DrainEngine = { engine: string; draining: boolean; reason: string | null }

/** A new reason during a pause appends an event. Idempotent otherwise. */
export function switchQueue(queue: Closed, { paused, reason }: SwitchQueue): QueueEvent[] {
  if (!paused) return queue ? [{ type: 'queue.resumed', data: {} }] : []
  if (queue !== null && queue.reason === reason) return []
  return [{ type: 'queue.paused', data: { reason } }]
}

/** The same for an engine. */
export function drainEngine(state: Closed, command: DrainEngine): EngineEvent[] {
  const { engine, draining, reason } = command
  if (!draining) return state ? [{ type: 'engine.undrained', data: { engine } }] : []
  if (state !== null && state.reason === reason) return []
  return [{ type: 'engine.drained', data: { engine, reason } }]
}
