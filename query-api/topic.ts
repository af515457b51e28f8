import type { Person } from '../auth/caller.ts'
import { Invalid } from '../schemas/validate.ts'
import type { Feed } from './sse-feed.ts'

/** A topic of `/api/stream` (contract: `topics=job:<id>,jobs,notifications`); a slice provides one. */
export type Topic = {
  /** The names in `topics` that this topic serves. */
  pattern: RegExp
  /** The same names as a person reads them, for the refusal of an unknown one. */
  shape: string
  /** Opens one feed for all names asked for; refuses what the caller may not read. */
  open(caller: Person, names: readonly string[]): Promise<OpenedTopic>
}

export type OpenedTopic = {
  feed: Feed
  /** Where a reader without a cursor begins. */
  start: number
  /** Refuses as soon as the caller may not read this any longer. */
  check: () => Promise<unknown>
}

/** The run of a topic that follows one; 422 for several. */
export function oneRun(topic: string, names: readonly string[]): string {
  const [name = '', ...others] = names
  if (others.length === 0) return name.slice(topic.length + 1)
  throw new Invalid([
    {
      loc: ['query', 'topics'],
      msg: `Input should name at most one run as '${topic}:<run_id>'`,
      type: 'value_error',
      input: names.join(',').slice(0, 300),
    },
  ])
}
