import { stringify } from 'yaml'
import { limitsOf, type Parameter, typeOf } from '../jobs/spec/parameters.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import { list } from '../program/list.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Texts,
  type World,
} from '../program/session.ts'
import { showFacts } from '../program/show-one.ts'
import { toJson } from '../terminal/harmless.ts'
import { type Column, showTable } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { type CatalogueRow, everyRecipe, recipeNamed, toLock } from './catalogue.ts'
import { followCatalogue } from './lock-file.ts'

type LockOptions = CommonOptions & Texts<'file'> & Flags<'check'>

export const describeRecipeList = describe({
  text: 'the recipes for jobs, the newest version of each first',
})

export const recipeList = list<CatalogueRow>({
  path: '/api/recipes',
  shown: {
    columns: [
      { title: 'RECIPE', cell: row => row.name },
      { title: 'VERSION', cell: row => row.version },
      { title: 'KIND', cell: row => row.kind, drops: true },
      {
        title: 'FRAMEWORK',
        cell: row => `${row.framework.name} ${row.framework.version}`,
        drops: true,
      },
      { title: 'GPUS', cell: row => String(row.resources.min_gpus), align: 'right', drops: true },
      {
        title: 'TITLE',
        cell: row => (row.deprecated ? `(deprecated) ${row.title}` : row.title),
        shrinks: true,
      },
    ],
  },
})

export const describeRecipeShow = describe({
  text: 'a recipe and its parameters; without a version the newest',
  operands: { '<name[@version]>': '' },
})

export async function recipeShow(
  world: World,
  asked: string,
  options: CommonOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const recipe = await recipeNamed(api, asked)
  if (isJson) {
    terminal.data(toJson(recipe))
    return exitCode.ok
  }
  const others = (await everyRecipe(api)).filter(({ name }) => name === recipe.name)
  showFacts(terminal, factsOf(recipe, others), 11)
  terminal.data('')
  const { properties = {} } = recipe.params_schema
  const parameters = Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    fallback: recipe.params_default[name],
  }))
  if (parameters.length === 0) terminal.data('It has no parameters.')
  else showTable(terminal, parameterColumns, parameters)
  return exitCode.ok
}

type ParameterRow = { name: string; schema: Parameter; fallback: unknown }

const parameterColumns: Column<ParameterRow>[] = [
  { title: 'PARAMETER', cell: row => row.name },
  { title: 'TYPE', cell: row => typeOf(row.schema), shrinks: true },
  {
    title: 'DEFAULT',
    cell: row => (row.fallback === undefined ? 'required' : JSON.stringify(row.fallback)),
    shrinks: true,
  },
  { title: 'ALLOWED', cell: row => limitsOf(row.schema).join(', ') || 'any', shrinks: true },
  { title: 'MEANING', cell: row => row.schema.description ?? '', shrinks: true, drops: true },
]

const factsOf = (recipe: CatalogueRow, versions: readonly CatalogueRow[]): [string, string][] => [
  ['recipe', `${recipe.name} ${recipe.version}${recipe.deprecated ? ' (deprecated)' : ''}`],
  ['title', recipe.title],
  ['kind', recipe.kind],
  [
    'framework',
    `${recipe.framework.name} ${recipe.framework.version} (${recipe.framework.runtime_id})`,
  ],
  ['entrypoint', recipe.entrypoint],
  ...(recipe.image === null ? [] : [['image', recipe.image] as [string, string]]),
  ['GPUs', `at least ${recipe.resources.min_gpus}`],
  ['profiles', recipe.resources.profiles.join(', ') || 'any'],
  ['outputs', recipe.outputs.map(({ kind, format }) => `${kind} (${format})`).join(', ') || '-'],
  ['digest', recipe.digest],
  [
    'versions',
    versions.map(row => `${row.version}${row.deprecated ? ' (deprecated)' : ''}`).join(', '),
  ],
]

export const describeRecipeLock = describe({
  text: 'the lock of a recipe for a JobSpec, printed or written into a file',
  operands: { '[name[@version]]': '' },
  options: {
    '-f, --file <path>': 'write it into this JobSpec, and show what has changed since',
    '--check': 'with --file: change nothing, and end with 5 if the lock is not the newest',
  },
})

export async function recipeLock(
  world: World,
  asked: string | undefined,
  options: LockOptions,
): Promise<ExitCode> {
  if (asked === undefined && options.file === undefined)
    throw usageFailure('Name a recipe, or a JobSpec with -f', 'hint: forge recipe list')
  if (options.check && options.file === undefined) throw usageFailure('--check needs -f FILE')
  const { api, terminal, isJson, process } = await openSignedIn(world, options)
  if (options.file === undefined) {
    const lock = toLock(await recipeNamed(api, asked ?? ''))
    terminal.data(isJson ? toJson(lock) : stringify({ lock }).trimEnd())
    return exitCode.ok
  }
  const { file, check = false } = options
  const followed = await followCatalogue(api, { process, file, asked, isWritten: !check })
  if (isJson) terminal.data(toJson(followed))
  else sayFollowed(terminal, { file, check }, followed)
  return check && followed.changed ? exitCode.conflict : exitCode.ok
}

type Followed = Awaited<ReturnType<typeof followCatalogue>>

function sayFollowed(
  terminal: Terminal,
  { file, check }: { file: string; check: boolean },
  { lock, changed, diff, unknown }: Followed,
): void {
  const { paint } = terminal
  const found = check ? 'the catalogue has changed' : 'the lock was written'
  terminal.data(`${file}: ${changed ? found : `the lock is that of ${lock.name} ${lock.version}`}`)
  for (const line of diff) terminal.data(paint(line.startsWith('-') ? 'red' : 'green', line))
  if (unknown.length > 0)
    terminal.note(`The recipe has no such parameters: ${unknown.join(', ')} (spec.params)`)
}
