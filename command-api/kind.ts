import type { DecisionEvent } from '../events/all.ts'

/** A thing that has an owner, or that others use. `kind` and `id` never change. */
export type Thing = { kind: string; id: string }

/** What an event makes of a thing. */
export type ResourceChange = { id: string } & (
  | {
      is: 'there'
      /** What people call it; its id if absent. */
      name?: string
      owner?: string
      project?: string
      visibility?: string
      /** The thing whose owner and project it shares. */
      within?: Thing
    }
  /** It may come back. */
  | { is: 'deleted' }
  | { is: 'restored' }
  /** Deleted permanently, with the things within it; their uses are forgotten. */
  | { is: 'purged' }
)

/** `as` says in which way, and tells several uses of the same thing apart. */
export type UseChange =
  | { begins: true; user: Thing; used: Thing; as: string }
  /** All uses of this user in this way; of `used` alone if it is named. */
  | { begins: false; user: Thing; as: string; used?: Thing }

/**
 * How a slice declares the things that it owns: `commit` keeps `write.resource` and `write.use` by it, in the transaction of the
 * events. Pure; declared in `slice.ts`. Several slices may tell of things of one kind, as runs and jobs do.
 */
export type Kind = {
  name: string
  resourceOf(event: DecisionEvent): ResourceChange | null
  usesOf(event: DecisionEvent): readonly UseChange[]
}
