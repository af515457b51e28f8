import type { Deps } from './deps.ts'
import type { Follower } from './follower.ts'
import { notifier } from './notifications/perform.ts'
import type { Reactor } from './reactor.ts'

/** Everything that Forge does because of an event; the list is written by hand. */
export const reactors: readonly Reactor<Deps>[] = [notifier]

/** Everything that decides because of what the log says; the list is written by hand. */
export const followers: readonly Follower<Deps>[] = []
