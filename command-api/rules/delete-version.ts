import type { Event, Stream } from '../../events/event.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { commit, type Decided } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { holdForDeletion, refuseUsed, toNamed, type User, usersOf } from './users-of-thing.ts'

type Asked = HttpAsked & {
  caller: { username: string; role: string }
  query: { dry_run?: boolean; force?: boolean }
}

type Deletion<S, E extends Event> = {
  target: Stream<S, E>
  /** The version, as things that use it name it. */
  thing: { kind: string; id: string }
  /** The code of the refusal while something names it. */
  code: string
  decide: (state: S) => E[]
  save: (tx: Transaction, decided: Decided<S, E>) => Promise<unknown>
}

/** Deletes a version unless something names it; with `dry_run`, only lists what does. `T`: the kinds of things that may use it. */
export async function deleteUnlessUsed<T extends string, S, E extends Event>(
  deps: Deps,
  request: Asked,
  { target, thing, code, decide, save }: Deletion<S, E>,
) {
  const { caller, query } = request
  const { dry_run = false, force = false } = query
  const ref = thing.id
  if (dry_run) {
    const { events } = await deps.store.load<E>(target.stream)
    decide(events.reduce(target.aggregate.evolve, target.aggregate.initial))
    const found = await usersOf<T>(deps.pool, thing, caller)
    return { ref, deleted: false, would_break: found.flatMap(toNamed) }
  }
  let users: User<T>[] = []
  await commit(deps, request, target, {
    decide,
    async alongside(tx, decided) {
      users = await holdForDeletion<T>(tx, thing, caller)
      refuseUsed(thing, users, { force, code })
      await save(tx, decided)
    },
  })
  return { ref, deleted: true, would_break: users.flatMap(toNamed) }
}
