import type { Examples } from '../../auth/examples.ts'
import type { Route } from '../../auth/route.ts'
import { slices as ofCommands } from '../../command-api/compose.ts'
import { slices as ofQueries } from '../../query-api/compose.ts'
import type { RecipeLock } from '../../schemas/recipes.ts'

type Values = Readonly<Record<string, unknown>>
/** A request that can be sent as it stands, after names are replaced by one's own. */
export type Example = { parameters: Values; body?: unknown }

const examples: readonly Examples[] = [...ofCommands, ...ofQueries].flatMap(
  slice => slice.examples ?? [],
)

const inPaths: Values = Object.assign({}, ...examples.map(({ paths }) => paths))
const queries: Readonly<Record<string, Values>> = Object.assign(
  {},
  ...examples.map(one => one.queries),
)
const bodies = (lock: RecipeLock | null): Values =>
  Object.assign(
    {},
    ...examples.map(one => (typeof one.bodies === 'function' ? one.bodies(lock) : one.bodies)),
  )

/** The example of a route. `lock` is the lock of a recipe of this installation. */
export function exampleOf(route: Route, lock: RecipeLock | null): Example {
  const name = `${route.method} ${route.path}`
  const body = bodies(lock)[name]
  return {
    parameters: { ...parametersInPath(route.path), ...queries[name] },
    ...(body !== undefined && { body }),
  }
}

function parametersInPath(path: string): Values {
  const found: Record<string, unknown> = {}
  let noun = ''
  for (const part of path.split('/')) {
    const name = /^\{\+?(\w+)\}$/.exec(part)?.[1]
    if (name === undefined) noun = part
    else found[name] = inPaths[`${noun}.${name}`]
  }
  return found
}
