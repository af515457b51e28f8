/** `path` is a JSON Pointer (RFC 6901); what is not there is null. */
export type Difference = { path: string; from: unknown; to: unknown }

/** Where two JSON values differ, each as deep down as it can be named. */
export function differences(from: unknown, to: unknown, path = ''): Difference[] {
  if (isLeaf(from) && isLeaf(to)) return from === to ? [] : [{ path, from, to }]
  // What came to be, or went, is named field by field too.
  if (isOpaque(from, to)) return [{ path, from, to }]
  const [before, after] = [fieldsOf(from), fieldsOf(to)]
  const names = new Set([...before.keys(), ...after.keys()])
  if (names.size === 0 && isLeaf(from) !== isLeaf(to)) return [{ path, from, to }]
  return [...names].flatMap(name =>
    differences(before.get(name) ?? null, after.get(name) ?? null, `${path}/${escaped(name)}`),
  )
}

const isLeaf = (value: unknown): boolean => typeof value !== 'object' || value === null

/** A list against an object, or either against something that is neither: nothing inside can be compared. */
const isOpaque = (a: unknown, b: unknown): boolean =>
  a !== null && b !== null && (isLeaf(a) || isLeaf(b) || Array.isArray(a) !== Array.isArray(b))

const fieldsOf = (value: unknown): Map<string, unknown> =>
  new Map(isLeaf(value) ? [] : Object.entries(value as object))

const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')
