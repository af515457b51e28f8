import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
} from 'yaml'
import { Failure } from '../../program/failure.ts'

/** Where the values of a JobSpec were written. */
export type Origin = {
  /** The option that set the value at this path, or its place such as `job.yaml:12:5` (of its parent if it is missing); null without a file. */
  placeInSpec(path: Path): string | null
}

type Path = readonly (string | number)[]

/** `setBy` has the values that options of the command line replaced, by dotted path: `metadata.name` → `--name`. */
export function originOf(
  written: { text: string; name: string } | null,
  setBy: ReadonlyMap<string, string> = new Map(),
): Origin {
  if (written === null)
    return { placeInSpec: path => optionFor(path, setBy) ?? optionInside(path, setBy) }
  const { text, name } = written
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  return {
    placeInSpec(path) {
      const option = optionFor(path, setBy)
      if (option !== null) return option
      const { offset, isWhole } = offsetOf(document, path)
      const inside = isWhole ? null : optionInside(path, setBy)
      if (inside !== null) return inside
      const { line, col } = lines.linePos(offset)
      return `${name}:${line}:${col}`
    },
  }
}

/** The option that set the value at a path, or a value around it. */
function optionFor(path: Path, setBy: ReadonlyMap<string, string>): string | null {
  for (let length = path.length; length > 0; length--) {
    const option = setBy.get(path.slice(0, length).join('.'))
    if (option !== undefined) return option
  }
  return null
}

/** The option that made the value at a path by giving one in it: `spec.foo` of `--set spec.foo.bar=1`. */
function optionInside(path: Path, setBy: ReadonlyMap<string, string>): string | null {
  const above = `${path.join('.')}.`
  const found = [...setBy].find(([set]) => set.startsWith(above))
  return found ? found[1] : null
}

/** Where the key or list item at a path begins; if it is missing, where its parent begins, which is not `whole`. */
function offsetOf(document: Document, path: Path): { offset: number; isWhole: boolean } {
  let node: unknown = document.contents
  let offset = 0
  for (const key of path) {
    const [at, value] = entryOf(isAlias(node) ? node.resolve(document) : node, key)
    if (!isNode(at)) return { offset, isWhole: false }
    offset = at.range?.[0] ?? offset
    node = value
  }
  return { offset, isWhole: true }
}

/** A key with its value, or a list item as both. */
function entryOf(node: unknown, key: string | number): readonly unknown[] {
  if (isSeq(node)) return [node.items[Number(key)], node.items[Number(key)]]
  if (!isMap(node)) return []
  const pair = node.items.find(each => isScalar(each.key) && String(each.key.value) === String(key))
  return pair ? [pair.key, pair.value] : []
}

type Fault = { loc?: unknown }

/** A refusal with the places in the file that it concerns. */
export function withPlaces(failure: Failure, origin: Origin): Failure {
  const { detail, gate, data } = failure.fields
  if (Array.isArray(detail)) return placedFields(failure, detail, origin)
  const places = placesOfGate(origin, String(gate), data)
  if (places.length === 0) return failure
  const lines = places.map(place => `at ${place}`)
  return new Failure(failure.exitCode, failure.message, {
    lines: [...lines, ...failure.lines],
    fields: { ...failure.fields, places },
  })
}

/** The lines of a 422 begin with the loc of their field, `body.metadata.tags: …`. */
function placedFields(failure: Failure, detail: readonly unknown[], origin: Origin): Failure {
  const placed = detail.map(item => {
    const { loc } = item as Fault
    if (!Array.isArray(loc) || loc[0] !== 'body') return { item, loc: null, place: null }
    return { item, loc: loc.join('.'), place: origin.placeInSpec(loc.slice(1)) }
  })
  const lines = failure.lines.map(line => {
    const found = placed.find(({ loc }) => loc !== null && line.startsWith(`${loc}: `))
    if (!found) return line
    const shown = line.replace(/^body\.?/, '')
    return found.place === null ? shown : `${found.place}: ${shown}`
  })
  return new Failure(failure.exitCode, failure.message, {
    lines,
    fields: {
      ...failure.fields,
      detail: placed.map(({ item, place }) => (place ? { ...(item as object), place } : item)),
    },
  })
}

/** Where the values are written that a gate refuses. */
export const placesOfGate = (origin: Origin, gate: string, data: unknown): string[] =>
  pathsOf(gate, data).flatMap(path => origin.placeInSpec(path) ?? [])

/** The part of a JobSpec that a gate checks; a function for a gate that names the values itself. */
const pathsOfGate: Record<string, Path | ((data: Named) => Path[])> = {
  dialect: ['api'],
  recipe_handshake: ['lock'],
  entrypoint_override: ['spec', 'source', 'entrypoint'],
  image_registry: ['spec', 'image', 'ref'],
  quota: ['spec', 'resources', 'gpus_per_node'],
  profile: ['spec', 'resources', 'profile'],
  params: ({ faults = [] }) =>
    faults.map(fault => ['spec', 'params', fault.slice('params.'.length).split(': ')[0] ?? '']),
  env: ({ refused = [] }) => refused.map(name => ['spec', 'env', name]),
}
type Named = { faults?: string[]; refused?: string[] }

function pathsOf(gate: string, data: unknown): Path[] {
  const known = Object.hasOwn(pathsOfGate, gate) ? pathsOfGate[gate] : undefined
  if (known === undefined) return []
  return typeof known === 'function' ? known((data ?? {}) as Named) : [known]
}
