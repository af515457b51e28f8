import { Type } from 'typebox'
import { reflowCounts, reflowRule } from '../schemas/reflows.ts'
import { nullable } from '../schemas/shared.ts'
import { aggregate, type EventOf, event } from './event.ts'

const named = { reflow_id: Type.String(), owner: Type.String(), name: Type.String() }
const firing = Type.Integer({ minimum: 1 })

export const reflowCreated = event(
  'reflow.created',
  Type.Object({ ...named, ...reflowRule }),
  ({ name, target_dataset }, who) =>
    `${who} created the reflow ${name} into the dataset ${target_dataset}`,
)

/** A firing began. Captured requests are numbered; it takes those after `after`, up to `until`. */
export const reflowStarted = event(
  'reflow.started',
  Type.Object({
    ...named,
    firing,
    window: nullable(Type.String()),
    after: Type.Integer({ minimum: 0 }),
    until: Type.Integer({ minimum: 0 }),
  }),
  ({ name, window }, who) =>
    `${who} fired the reflow ${name}${window === null ? '' : ` for ${window}`}`,
)

/** A firing ended. `ref`: the version with its rows; null if there were none. `reached`: the last captured request that it looked at. */
export const reflowEnded = event(
  'reflow.ended',
  Type.Object({
    ...named,
    firing,
    ref: nullable(Type.String()),
    created: Type.Boolean(),
    counts: reflowCounts,
    reached: Type.Integer({ minimum: 0 }),
  }),
  ({ name, ref, counts }, who) =>
    ref === null
      ? `${who} found nothing to take for the reflow ${name}`
      : `${who} took ${counts.taken} ${counts.taken === 1 ? 'row' : 'rows'} for the reflow ${name}: ${ref}`,
)

/** A firing ended without having taken anything; the next one takes the same rows. */
export const reflowFailed = event(
  'reflow.failed',
  Type.Object({ ...named, firing, reason: Type.String() }),
  ({ name, reason }, who) => `${who} could not fire the reflow ${name}: ${reason}`,
)

/** The versions that it made stay. */
export const reflowDeleted = event(
  'reflow.deleted',
  Type.Object(named),
  ({ name }, who) => `${who} deleted the reflow ${name}`,
)

const events = [reflowCreated, reflowStarted, reflowEnded, reflowFailed, reflowDeleted] as const
export type ReflowEvent = EventOf<(typeof events)[number]>
type Data<T extends ReflowEvent['type']> = Extract<ReflowEvent, { type: T }>['data']

/** How many windows are remembered by name. */
const mostWindows = 1000

/** Null before it is created, and after it is deleted. */
export type Reflow =
  | (Data<'reflow.created'> & {
      firings: number
      /** The firing that is under way. */
      open: { firing: number; after: number; until: number } | null
      /** How far the last firing came. */
      reached: number
      /** The firings of the newest windows. */
      windows: { window: string; firing: number; state: 'running' | 'succeeded' | 'empty' }[]
    })
  | null

function evolve(reflow: Reflow, event: ReflowEvent): Reflow {
  if (event.type === 'reflow.created')
    return { ...event.data, firings: 0, open: null, reached: 0, windows: [] }
  return reflow && evolveExisting(reflow, event)
}

function evolveExisting(
  reflow: NonNullable<Reflow>,
  event: Exclude<ReflowEvent, { type: 'reflow.created' }>,
): Reflow {
  switch (event.type) {
    case 'reflow.started': {
      const { firing, window, after, until } = event.data
      const windows = window === null ? [] : [{ window, firing, state: 'running' as const }]
      return {
        ...{ ...reflow, firings: firing, open: { firing, after, until } },
        windows: [...reflow.windows, ...windows].slice(-mostWindows),
      }
    }
    case 'reflow.ended': {
      const { firing, ref, reached } = event.data
      const state = ref === null ? ('empty' as const) : ('succeeded' as const)
      const windows = reflow.windows.map(one => (one.firing === firing ? { ...one, state } : one))
      return { ...reflow, open: null, reached, windows }
    }
    case 'reflow.failed': {
      // Its window may be fired again.
      const windows = reflow.windows.filter(({ firing }) => firing !== event.data.firing)
      return { ...reflow, open: null, windows }
    }
    case 'reflow.deleted':
      return null
  }
}

export const reflows = aggregate('reflow', {
  events,
  initial: null,
  evolve,
  snapshot: { shape: 1 },
})
export const reflowAt = (reflow_id: string) => reflows.at(reflow_id)
