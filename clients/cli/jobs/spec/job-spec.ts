import { LineCounter, parse, parseDocument, visit, YAMLParseError } from 'yaml'
import { usageFailure } from '../../program/failure.ts'
import { isRecord } from '../../program/is-record.ts'

/** An unvalidated JobSpec; the server validates it. */
export type SpecTree = { [key: string]: unknown }

/** The JobSpec dialect of this CLI (specification, "Versioning"). */
export const dialect = 'forge/v2'

/** Reads a JobSpec written as YAML or JSON. `name` appears in error messages. */
export function parseSpec(text: string, name: string): SpecTree {
  let value: unknown
  try {
    value = parse(text)
  } catch (error) {
    throw usageFailure(unreadable(error, text, name))
  }
  if (!isRecord(value))
    throw usageFailure(`${name}:1:1: not a JobSpec: its top level must be an object`)
  return value
}

function unreadable(error: unknown, text: string, name: string): string {
  if (error instanceof ReferenceError) {
    const at = lostAlias(text)
    return `${at ? `${name}:${at.line}:${at.col}` : name}: neither YAML nor JSON: ${error.message}`
  }
  if (!(error instanceof YAMLParseError)) throw error
  const [at] = error.linePos ?? []
  const place = at ? `${name}:${at.line}:${at.col}` : name
  if (error.code === 'MULTIPLE_DOCS')
    return `${place}: a second document begins; a file holds one JobSpec`
  // Below its first line the parser repeats the place and shows the line.
  const [what = ''] = error.message.split(/ at line \d+|\n/)
  return `${place}: neither YAML nor JSON: ${what}`
}

/** The place of the first alias without an anchor, such as an unquoted `*.py`. */
function lostAlias(text: string): { line: number; col: number } | null {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  let offset: number | undefined
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document)) return undefined
      offset = alias.range?.[0]
      return visit.BREAK
    },
  })
  return offset === undefined ? null : lines.linePos(offset)
}

/** Everything after this prefix is one key, because parameter names may contain dots (`rollout.n`). */
const params = 'spec.params.'

/** Sets one value in the tree, creating objects on the way; `path` is dotted, list items by index. */
export function setAt(spec: SpecTree, path: string, value: unknown): void {
  const keys = path.startsWith(params)
    ? ['spec', 'params', path.slice(params.length)]
    : path.split('.')
  const last = keys.pop() ?? ''
  let node: SpecTree = spec
  for (const key of keys) {
    const next = own(node, key)
    if (next !== undefined && next !== null && typeof next !== 'object')
      throw usageFailure(`--set ${path}: ${key} is ${JSON.stringify(next)}, which has no fields`)
    node = isRecord(next) || Array.isArray(next) ? (next as SpecTree) : define(node, key, {})
  }
  define(node, last, value)
}

const own = (node: SpecTree, key: string): unknown =>
  Object.hasOwn(node, key) ? node[key] : undefined

/** Unlike assignment, this makes `__proto__` an ordinary field, which the server then refuses. */
function define<V>(node: SpecTree, key: string, value: V): V {
  Object.defineProperty(node, key, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  })
  return value
}

export type RecipeJob = {
  lock: SpecTree
  project: string
  /** Defaults to the recipe's name. */
  name: string | undefined
}

/** The smallest JobSpec that runs a recipe; everything else has a default on the server. */
export const specOfRecipe = ({ lock, project, name }: RecipeJob): SpecTree => ({
  api: dialect,
  kind: 'train',
  metadata: { name: name ?? String(lock.name), project },
  lock,
  spec: {},
})
