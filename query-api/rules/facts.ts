/** The single facts of a nested value by name, e.g. `packages.torch`, `gpus.0.name`; an empty object or list has none. */
export function factsOf(value: unknown, name = ''): [string, unknown][] {
  if (typeof value !== 'object' || value === null) return [[name, value]]
  return Object.entries(value).flatMap(([key, item]) =>
    factsOf(item, name === '' ? key : `${name}.${key}`),
  )
}
