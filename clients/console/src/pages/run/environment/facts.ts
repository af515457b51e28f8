/** The facts of an environment by their full names, such as `packages.torch` and `gpus.0.name`. */
export function factsOf(value: unknown, name = ''): Map<string, string> {
  if (typeof value !== 'object' || value === null)
    return new Map(value === null || value === undefined ? [] : [[name, String(value)]])
  return new Map(
    Object.entries(value).flatMap(([key, inner]) => [
      ...factsOf(inner, name === '' ? key : `${name}.${key}`),
    ]),
  )
}
