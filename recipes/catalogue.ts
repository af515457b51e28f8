import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TSchema } from 'typebox'
import { parse } from 'yaml'
import { type Recipe, type RecipeLock, recipeFile, serveKind } from '../schemas/recipes.ts'
import type { ValidationError } from '../schemas/shared.ts'
import { assertSchema, type Checked, checker } from '../schemas/validate.ts'
import { recipeDigest } from './digest.ts'

export type CatalogueEntry = {
  recipe: Recipe
  /** Absolute path of its files. */
  directory: string
  /** Merges a job's parameters over the recipe's defaults and checks them against its schema. */
  resolveParams(params: Record<string, unknown>): Checked<Record<string, unknown>>
}

/** The folder of the bundled recipes. */
export const builtInRecipes = fileURLToPath(new URL('.', import.meta.url))

/** All recipes below `root`, by name, newest version first. Throws for the first faulty one. */
export async function loadCatalogue(root: string): Promise<CatalogueEntry[]> {
  const entries: CatalogueEntry[] = []
  for (const directory of await foldersWith('recipe.yaml', root))
    entries.push(await loadRecipe(directory))
  const sorted = sortedEntries(entries)
  refuseDoubles(sorted)
  return sorted
}

/** The folders directly below `root` that have this file. */
export async function foldersWith(file: string, root: string): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(root, { withFileTypes: true })) {
    const directory = path.join(root, entry.name)
    if (entry.isDirectory() && (await isFile(path.join(directory, file)))) found.push(directory)
  }
  return found
}

/** By name, the newest version first. */
export const sortedEntries = (entries: readonly CatalogueEntry[]): CatalogueEntry[] =>
  entries.toSorted(byNameNewestFirst)

/** Without a version, the newest that is not deprecated, or else the newest. */
export function findRecipe(
  entries: readonly CatalogueEntry[],
  name: string,
  version?: string,
): CatalogueEntry | null {
  const named = entries.filter(({ recipe }) => recipe.name === name)
  if (version !== undefined) return named.find(({ recipe }) => recipe.version === version) ?? null
  return named.find(({ recipe }) => !recipe.deprecated) ?? named[0] ?? null
}

export function lockOf({ name, version, digest, framework }: Recipe): RecipeLock {
  return { name, version, digest, framework }
}

/** An invalid recipe; the message names the faults. */
export class FaultyRecipe extends Error {}

/** Reads and validates one recipe; the error names it, by default by its folder, and each fault. */
export async function loadRecipe(directory: string, called = directory): Promise<CatalogueEntry> {
  const entry = await readEntry(directory, called, { file: 'recipe.yaml', check: checkFile })
  const { entrypoint, kind } = entry.recipe
  if (kind === serveKind)
    throw new FaultyRecipe(`recipe ${called}: kind: ${serveKind} is only for serving templates`)
  if (!(await isFile(path.join(directory, entrypoint))))
    throw new FaultyRecipe(`recipe ${called}: there is no ${entrypoint}`)
  return entry
}

type Description = {
  file: string
  check(written: unknown): Checked<Omit<Recipe, 'digest'>>
}

/** The entry that a file of this folder describes. */
export async function readEntry(
  directory: string,
  called: string,
  { file, check }: Description,
): Promise<CatalogueEntry> {
  const checked = check(parsed(await readFile(path.join(directory, file), 'utf8'), file, called))
  if (!checked.ok) throw faulty(called, file, checked.errors)
  const digest = await recipeDigest(directory)
  const entry = toEntry({ ...checked.value, digest }, directory, called)
  const defaults = entry.resolveParams({})
  if (!defaults.ok) throw faulty(`${called}: params_default`, file, defaults.errors)
  return entry
}

/** A recipe that was stored by an earlier version of Forge, with the defaults of fields that are newer. */
export function withDefaults({ digest, ...file }: Recipe, called: string): Recipe {
  const checked = checkFile(file)
  if (!checked.ok) throw faulty(called, 'recipe.yaml', checked.errors)
  return { ...checked.value, digest }
}

/** The entry of a recipe whose files were validated before. */
export const toEntry = (recipe: Recipe, directory: string, called = directory): CatalogueEntry => ({
  recipe,
  directory: path.resolve(directory),
  resolveParams: paramsResolver(called, recipe),
})

function parsed(text: string, file: string, called: string): unknown {
  try {
    return parse(text)
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error)
    throw new FaultyRecipe(`recipe ${called}: ${file} is not YAML: ${fault}`, { cause: error })
  }
}

const checkFile = checker(recipeFile, 'body')

function paramsResolver(called: string, recipe: Recipe): CatalogueEntry['resolveParams'] {
  try {
    // A job's parameters are always an object, even if the schema does not say so.
    const schema = { type: 'object', ...recipe.params_schema } as TSchema
    assertSchema(schema)
    const check = checker(schema, 'body')
    return params =>
      check(structuredClone({ ...recipe.params_default, ...params })) as Checked<
        Record<string, unknown>
      >
  } catch (error) {
    throw new FaultyRecipe(`recipe ${called}: params_schema is not a JSON Schema`, { cause: error })
  }
}

function faulty(what: string, file: string, errors: ValidationError[]): FaultyRecipe {
  const faults = errors.map(({ loc, msg }) => `${loc.slice(1).join('.') || file}: ${msg}`)
  return new FaultyRecipe(`recipe ${what}: ${faults.join('; ')}`)
}

/** `entries` must be sorted, so that duplicates are neighbours. */
function refuseDoubles(entries: readonly CatalogueEntry[]): void {
  entries.forEach(({ recipe: { name, version }, directory }, index) => {
    const next = entries[index + 1]
    if (next?.recipe.name === name && next.recipe.version === version)
      throw new Error(`recipe ${name} ${version} is both in ${directory} and in ${next.directory}`)
  })
}

function byNameNewestFirst(a: CatalogueEntry, b: CatalogueEntry): number {
  if (a.recipe.name !== b.recipe.name) return a.recipe.name < b.recipe.name ? -1 : 1
  return b.recipe.version.localeCompare(a.recipe.version, 'en', { numeric: true })
}

export async function isFile(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}
