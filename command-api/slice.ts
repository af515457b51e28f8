import type { Examples } from '../auth/examples.ts'
import type { Route } from '../auth/route.ts'
import type { Event } from '../events/event.ts'
import type { Transaction } from './commit/event-store.ts'
import type { Deps } from './deps.ts'
import type { Follower } from './effects/follower.ts'
import type { Reactor } from './effects/reactor.ts'
import type { Kind } from './kind.ts'

/**
 * A slice of the write side, as `<slice>/slice.ts` declares it and `slices.ts` lists it (docs/contribute/slices.md). `P`: what its routes
 * need besides `Deps`, of other slices (`compose.ts`) or of the server.
 */
export type Slice<P = unknown> = {
  /** Its folder. */
  name: string
  /** Its mutating routes. */
  routes?: (deps: Deps, ports: P) => Route[]
  /**
   * Its reactors that every process with this API can run. Others are listed where such processes are assembled: deleting
   * the files of runs in server/roles/executor.ts, trimming the log in server/roles/read-side.ts.
   */
  reactors?: readonly Reactor<Deps>[]
  /** Each server has its own, because they are stateful. */
  newFollowers?: () => readonly Follower<Deps>[]
  /** Deletes the rows that it keeps of a run besides events, when the run is purged. */
  deleteRowsOfRun?: (tx: Transaction, run_id: string) => Promise<unknown>
  /** The things that it owns, and what these use; null: nothing of it has an owner or is used by others. */
  kind: Kind | null
  /** For each of its aggregates, by name: the announcement of each event. */
  announces?: Readonly<Record<string, 'nothing' | Readonly<Record<string, Announcement>>>>
  /** Types of its events without a read model; the audit reads them from the event store. */
  unprojected?: readonly string[]
  /** Its tables; the SQL of other slices does not name them. */
  tables?: readonly string[]
  examples?: Examples
}

/** The announcement to other parts of the system after an event is committed; `none` if nobody needs to know at once. */
export type Announcement =
  /** Sessions of a person ended, or their rights changed: caches of access are stale. */
  | 'access'
  /** Gateways serve something else. */
  | 'serving'
  /** The order or the length of the queue changed: executors look for work, and the queue is read again. */
  | 'queue'
  /** A job joined the queue: executors look for work, and a short queue is read again. */
  | 'submit'
  /** The executor has something to do, but the order of the queue stays. */
  | 'executor'
  | 'none'

/** Total: an event of the union that is missing does not compile. */
export type Announced<E extends Event> = { readonly [T in E['type']]: Announcement }

/** What all of these slices need together. */
export type PortsOf<S> = (S extends Slice<infer P> ? (ports: P) => void : never) extends (
  ports: infer All,
) => void
  ? All
  : never
