import type { Event } from '../events/event.ts'
import { slices } from './compose.ts'
import type { Announcement } from './slice.ts'

export type Listeners = {
  access: (username: string) => void
  serving: () => void
  executor: () => void
  queue: { changed: () => void; submitted: () => void }
}

/** Notifies each listener once of the events that a transaction recorded. */
export function announce(events: readonly Event[], listeners: Listeners): void {
  const kinds = new Set(events.map(kindOf))
  for (const username of peopleIn(events)) listeners.access(username)
  if (kinds.has('serving')) listeners.serving()
  if (kinds.has('queue')) listeners.queue.changed()
  else if (kinds.has('submit')) listeners.queue.submitted()
  if (kinds.has('queue') || kinds.has('submit') || kinds.has('executor')) listeners.executor()
}

const byType: ReadonlyMap<string, Announcement> = new Map(
  slices
    .flatMap(({ announces }) => Object.values(announces ?? {}))
    .flatMap(announced => (announced === 'nothing' ? [] : Object.entries(announced))),
)

export const kindOf = ({ type }: Pick<Event, 'type'>): Announcement => byType.get(type) ?? 'none'

function peopleIn(events: readonly Event[]): Set<string> {
  const concerned = events.filter(event => kindOf(event) === 'access')
  return new Set(
    concerned.flatMap(({ data }) =>
      'username' in data && typeof data.username === 'string' ? data.username : [],
    ),
  )
}
