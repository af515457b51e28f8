import { readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { pid } from 'node:process'
import { isDeepStrictEqual } from 'node:util'
import { parseDocument } from 'yaml'
import { type Api, segment } from '../api/client.ts'
import { parseSpec, type SpecTree } from '../jobs/spec/job-spec.ts'
import { limitsOf, typeOf } from '../jobs/spec/parameters.ts'
import { usageFailure } from '../program/failure.ts'
import { isRecord } from '../program/is-record.ts'
import { type Process, pathIn } from '../program/process.ts'
import { type CatalogueRow, recipeNamed, toLock } from './catalogue.ts'

/** The result of following the catalogue with the lock in a JobSpec. */
type Followed = {
  file: string
  changed: boolean
  before: SpecTree
  lock: SpecTree
  /** How the lock and the parameters of the recipe changed, a line each, beginning with `-` or `+`. */
  diff: string[]
  /** Parameters that the job sets and the recipe does not have. */
  unknown: string[]
}

type Asked = { process: Process; file: string; asked: string | undefined; isWritten: boolean }

/** Compares the lock of a JobSpec with the catalogue, and writes the newer one into the file. */
export async function followCatalogue(
  api: Api,
  { process, file, asked, isWritten }: Asked,
): Promise<Followed> {
  const text = await readFile(pathIn(process, file), 'utf8').catch(error => {
    throw usageFailure(`${file} cannot be read: ${error.message}`, 'hint: forge init writes one')
  })
  const spec = parseSpec(text, file)
  const before = treeOf(spec.lock)
  const name = asked ?? before.name
  if (typeof name !== 'string')
    throw usageFailure(`${file} has no lock.name: name a recipe`, 'hint: forge recipe list')
  const recipe = await recipeNamed(api, name)
  const lock = toLock(recipe)
  const changed = !isDeepStrictEqual(before, lock)
  if (changed && isWritten) await replace(pathIn(process, file), file, withLock(text, spec, lock))
  const known = Object.keys(recipe.params_schema.properties ?? {})
  const set = Object.keys(treeOf(treeOf(spec.spec).params))
  return {
    ...{ file, changed, before, lock },
    diff: changed
      ? [...diffOf(flat(before), flat(lock)), ...(await parameterDiff(api, before, recipe))]
      : [],
    unknown: known.length === 0 ? [] : set.filter(one => !known.includes(one)),
  }
}

function diffOf(before: Map<string, string>, now: Map<string, string>, what = ''): string[] {
  return [...new Set([...before.keys(), ...now.keys()])]
    .filter(key => before.get(key) !== now.get(key))
    .flatMap(key => [
      ...(before.has(key) ? [`- ${what}${key}: ${before.get(key)}`] : []),
      ...(now.has(key) ? [`+ ${what}${key}: ${now.get(key)}`] : []),
    ])
}

/** Fields by their path. */
function flat(tree: SpecTree, under = ''): Map<string, string> {
  const found = new Map<string, string>()
  for (const [key, value] of Object.entries(tree))
    if (isRecord(value))
      for (const [path, text] of flat(value, `${under}${key}.`)) found.set(path, text)
    else found.set(`${under}${key}`, typeof value === 'string' ? value : JSON.stringify(value))
  return found
}

/** Keeps the comments of YAML; JSON has none. */
function withLock(text: string, spec: SpecTree, lock: SpecTree): string {
  if (text.trimStart().startsWith('{')) return `${JSON.stringify({ ...spec, lock }, null, 2)}\n`
  const document = parseDocument(text)
  if (!isRecord(spec.lock)) document.set('lock', document.createNode(lock))
  else {
    for (const [path, value] of leaves(lock)) document.setIn(['lock', ...path], value)
    for (const key of Object.keys(spec.lock)) if (!(key in lock)) document.deleteIn(['lock', key])
  }
  return document.toString({ lineWidth: 0 })
}

const leaves = (tree: SpecTree): [path: string[], value: unknown][] =>
  Object.entries(tree).flatMap(([key, value]): [string[], unknown][] =>
    isRecord(value)
      ? leaves(value).map(([path, leaf]) => [[key, ...path], leaf])
      : [[[key], value]],
  )

/** A crash leaves the old file or the new one. */
async function replace(path: string, file: string, text: string): Promise<void> {
  const place = await realpath(path)
  const fresh = `${place}.${pid}.new`
  try {
    await writeFile(fresh, text)
    await rename(fresh, place)
  } catch (error) {
    await rm(fresh, { force: true })
    const fault = error instanceof Error ? error.message : String(error)
    throw usageFailure(`${file} cannot be written: ${fault}`)
  }
}

/** Empty where the catalogue does not have the old version. */
async function parameterDiff(
  api: Api,
  { name, version }: SpecTree,
  now: CatalogueRow,
): Promise<string[]> {
  if (typeof name !== 'string' || typeof version !== 'string') return []
  const before = await api.find<CatalogueRow>(`/api/recipes/${segment(name)}/${segment(version)}`)
  return before ? diffOf(parametersOf(before), parametersOf(now), 'param ') : []
}

const parametersOf = ({ params_schema, params_default }: CatalogueRow): Map<string, string> =>
  new Map(
    Object.entries(params_schema.properties ?? {}).map(([key, schema]) => [
      key,
      [
        typeOf(schema),
        ...limitsOf(schema),
        ...(key in params_default ? [`${JSON.stringify(params_default[key])} by default`] : []),
      ].join(', '),
    ]),
  )

const treeOf = (value: unknown): SpecTree => (isRecord(value) ? value : {})
