import { type Document, isMap, parseDocument, stringify } from 'yaml'
import { isTree, type Tree } from '../../job-specs/tree.ts'
import { valueAt } from './spec.ts'

export type Read = { tree: Tree; fault: null } | { tree: null; fault: string }

/** The parsed text, or where it is neither YAML nor JSON. */
export function readText(text: string): Read {
  const parsed = parseDocument(text)
  const [error] = parsed.errors
  if (error) return { tree: null, fault: error.message.split('\n')[0] ?? '' }
  const value = withAliases(parsed)
  if (value instanceof ReferenceError) return { tree: null, fault: value.message }
  return isTree(value) ? { tree: value, fault: null } : { tree: null, fault: '' }
}

/** Aliases are resolved only here: `*.py` is one that refers to nothing, and too many are refused. */
function withAliases(parsed: Document): unknown {
  try {
    return parsed.toJS({ maxAliasCount: 100 })
  } catch (error) {
    if (error instanceof ReferenceError) return error
    throw error
  }
}

/** The text with one value changed; comments and order stay. Undefined removes the value. The text must be valid. */
export function withValue(text: string, path: readonly string[], value: unknown): string {
  const parsed = parseDocument(text)
  if (value === undefined) parsed.deleteIn(path)
  else {
    makeRoom(parsed, path)
    parsed.setIn(path, value)
  }
  return String(parsed)
}

/** Creates a section that is missing, null or not a section. */
function makeRoom(parsed: Document, path: readonly string[]): void {
  const tree: unknown = parsed.toJS()
  for (let depth = 1; depth < path.length; depth++) {
    const above = path.slice(0, depth)
    if (!isTree(valueAt(tree, above))) parsed.setIn(above, parsed.createNode({}))
    const section = parsed.getIn(above, true)
    // `{}` is expanded into lines like the rest.
    if (isMap(section) && section.items.length === 0) section.flow = false
  }
}

export const textOf = (spec: Tree): string => stringify(spec)
