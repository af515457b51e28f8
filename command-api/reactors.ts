import type { Deps } from './deps.ts'
import type { Follower } from './follower.ts'
import { notifier } from './notifications/perform.ts'
import type { Reactor } from './reactor.ts'

/**
 * What any process with commands does because of an event; the list is written by hand. What only some processes can do
 * is listed where they are assembled: deleting the files of runs in server/executor.ts, trimming the log in
 * server/read-side.ts.
 */
export const reactors: readonly Reactor<Deps>[] = [notifier]

/** Everything that decides because of what the log says; the list is written by hand. */
export const followers: readonly Follower<Deps>[] = []
