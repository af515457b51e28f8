import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { templateFile, templatePrefix } from '../schemas/recipes.ts'
import { checker } from '../schemas/validate.ts'
import {
  type CatalogueEntry,
  FaultyRecipe,
  findRecipe,
  foldersWith,
  readEntry,
} from './catalogue.ts'

/** The folder of the serving templates that come with Forge, and of the program that supervises their engines. */
export const builtInTemplates = fileURLToPath(new URL('../serving/', import.meta.url))

/** The program of every replica: it supervises the engine of its template. */
export const engineProgram = path.join(builtInTemplates, 'serve_engine.py')

/** All serving templates below `root`. Throws for the first faulty one. */
export async function loadTemplates(root: string): Promise<CatalogueEntry[]> {
  const entries: CatalogueEntry[] = []
  for (const directory of await foldersWith('template.yaml', root))
    entries.push(await loadTemplate(directory))
  return entries
}

const checkFile = checker(templateFile, 'body')

export const loadTemplate = (directory: string): Promise<CatalogueEntry> =>
  readEntry(directory, directory, {
    file: 'template.yaml',
    check(written) {
      const checked = checkFile(written)
      if (!checked.ok) return checked
      refuseUnknownPlaces(directory, checked.value)
      const value = { ...checked.value, entrypoint: path.basename(engineProgram) }
      return { ok: true, value: { ...value, name: templatePrefix + value.name } }
    },
  })

/** The names allowed in `{…}` in a command; the program of the engines fills them in. */
const places = [
  ...['socket', 'port', 'host', 'model_path', 'tensor_parallel', 'served_names', 'served_name'],
]

type Written = { serving: { command: string[]; options: string[][] }; params_schema: object }

function refuseUnknownPlaces(called: string, { serving, params_schema }: Written): void {
  const properties = 'properties' in params_schema ? params_schema.properties : {}
  const params = Object.keys(properties ?? {}).map(name => `param:${name}`)
  const known = new Set([...places, ...params])
  const words = [...serving.command, ...serving.options.flat()]
  const named = words.flatMap(word => [...word.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => name))
  const unknown = named.filter(name => name !== undefined && !known.has(name))
  if (unknown.length > 0)
    throw new FaultyRecipe(
      `recipe ${called}: serving.command names {${unknown.join('}, {')}}; there is ${[...known].join(', ')}`,
    )
}

/** Finds a template by the name that people use, e.g. `vllm`. Without a version, the newest that is not deprecated. */
export const findTemplate = (
  entries: readonly CatalogueEntry[],
  name: string,
  version?: string,
): CatalogueEntry | null => findRecipe(entries, templatePrefix + name, version)
