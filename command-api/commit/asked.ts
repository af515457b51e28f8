import type { Anybody, Person, RunCaller } from '../../auth/caller.ts'
import type { Actor } from '../../events/event.ts'
import type { Stamp } from './event-store.ts'

/** The part of an HTTP request that commands use. */
export type HttpAsked = {
  caller: Pick<Person, 'kind' | 'username' | 'via'> | RunCaller | Anybody
  requestId: string
  body?: unknown
  ctx: {
    method: string
    path: string
    get: (name: string) => string
    set: (name: string, value: string) => void
  }
}

/** A cause other than a request: a timer, an executor, a duty or follower, the first start. */
export type Cause = { actor: Actor; requestId: string; causationId?: string }

/** The trigger of a command, and the actor on whose behalf it runs. */
export type Asked = HttpAsked | Cause

/** The envelope of the resulting events. */
export function stampOf(asked: Asked, now: Date): Stamp {
  if ('actor' in asked) return { ...asked, now }
  return { actor: actorOf(asked.caller), requestId: asked.requestId, now }
}

function actorOf(caller: HttpAsked['caller']): Actor {
  switch (caller.kind) {
    case 'person':
      return { type: 'user', id: caller.username, via: caller.via }
    case 'run':
      return { type: 'run', id: caller.runId, via: 'ingest_token' }
    case 'anybody':
      return { type: 'system', id: 'anybody', via: 'none' }
  }
}

/** Sets `Forge-Position` to the caller's write; the server seals it for people. */
export function answerPosition(asked: Asked, position: string): void {
  if (!('actor' in asked)) asked.ctx.set('Forge-Position', position)
}
