/** `path` is a JSON Pointer (RFC 6901); a missing value is null. */
export type Difference = { path: string; from: unknown; to: unknown }

/** The differences of two JSON values, each with the longest possible path. */
export function differences(from: unknown, to: unknown, path = ''): Difference[] {
  if (isLeaf(from) && isLeaf(to)) return from === to ? [] : [{ path, from, to }]
  if (isOpaque(from, to)) return [{ path, from, to }]
  // An object that was added or removed is listed field by field as well.
  const [before, after] = [fieldsOf(from), fieldsOf(to)]
  const names = new Set([...before.keys(), ...after.keys()])
  if (names.size === 0 && isLeaf(from) !== isLeaf(to)) return [{ path, from, to }]
  return [...names].flatMap(name =>
    differences(before.get(name) ?? null, after.get(name) ?? null, `${path}/${escaped(name)}`),
  )
}

const isLeaf = (value: unknown): boolean => typeof value !== 'object' || value === null

/** Whether the insides of two different kinds of values cannot be compared; null compares with anything. */
const isOpaque = (a: unknown, b: unknown): boolean =>
  a !== null && b !== null && (isLeaf(a) || isLeaf(b) || Array.isArray(a) !== Array.isArray(b))

const fieldsOf = (value: unknown): Map<string, unknown> =>
  new Map(isLeaf(value) ? [] : Object.entries(value as object))

const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')
