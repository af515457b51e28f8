/** Names have at most this many parts; deeper values are shown as `{…}`. */
const mostDepth = 8

/** The facts of an environment by their full names, such as `packages.torch` and `gpus.0.name`. */
export function factsOf(value: unknown, name = '', depth = 0): Map<string, string> {
  if (value === null || value === undefined) return new Map()
  if (typeof value !== 'object') return new Map([[name, String(value)]])
  if (depth === mostDepth) return new Map([[name, Array.isArray(value) ? '[…]' : '{…}']])
  const inner = Object.entries(value).flatMap(([key, one]) => [
    ...factsOf(one, name === '' ? key : `${name}.${key}`, depth + 1),
  ])
  return new Map(inner)
}
