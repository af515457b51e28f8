import type { RecipeLock } from '../schemas/recipes.ts'

/** What the documentation of the API shows of a slice's routes: requests that can be sent as they stand. */
export type Examples = {
  /** Parameters of paths by the word before them and their name: `runs.run_id` in `/api/runs/{run_id}`. */
  paths?: Readonly<Record<string, string | number>>
  /** By method and path: query parameters that a request needs, or that show what the route is for. */
  queries?: Readonly<Record<string, Values>>
  /** By method and path; a body that may be absent needs none. `lock` is the lock of a recipe of this installation. */
  bodies?: Values | ((lock: RecipeLock | null) => Values)
}

type Values = Readonly<Record<string, unknown>>
