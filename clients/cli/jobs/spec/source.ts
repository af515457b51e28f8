import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { type Api, segment } from '../../api/client.ts'
import { repeated } from '../../program/describe.ts'
import { Failure, usageFailure } from '../../program/failure.ts'
import { type Process, pathIn } from '../../program/process.ts'
import type { Texts } from '../../program/session.ts'
import { recipeNamed, toLock } from '../../recipes/catalogue.ts'
import { textOfStdin } from '../../terminal/ask.ts'
import { assignment, parametersOf, readValue, schemasAt, variable } from './given.ts'
import { parseSpec, type SpecTree, setAt, specOfRecipe } from './job-spec.ts'
import { type Recipe, withParameters } from './parameters.ts'
import { type Origin, originOf, withPlaces } from './positions.ts'
import { withSpelling } from './spelling.ts'

/** The options that describe a job. */
export type SpecOptions = Texts<'file' | 'recipe' | 'project' | 'name' | 'nodes' | 'gpus'> & {
  param: string[]
  set: string[]
  env: string[]
}

/** Written by `forge init`, and read where neither a file nor a recipe is named. */
export const usualFile = 'job.yaml'

export const specOptions = {
  '-f, --file <path>': `JobSpec as YAML or JSON; - reads standard input; without -r by default ${usualFile}`,
  '-r, --recipe <name[@version]>': "use this recipe's lock, and without -f its defaults, too",
  '-p, --project <name>': 'project, where the file names none or another',
  '-n, --name <name>': 'name of the job',
  '--nodes <count>': 'nodes, each of which runs the program once',
  '--gpus <count>': 'GPUs on each node',
  '--param <key=value>': repeated('a parameter of the recipe; may be repeated'),
  '--set <path=value>': repeated('any value of the JobSpec, by its dotted path'),
  '--env <name=value>': repeated('an environment variable of the job; may be repeated'),
}

/** A JobSpec in its source form; `name` is the name of its file in messages. */
export type Written = { tree: SpecTree; text: string; name: string }

export async function readWritten(process: Process, options: SpecOptions): Promise<Written | null> {
  const file = options.file ?? (options.recipe === undefined ? fileHere(process) : undefined)
  if (file === undefined) return null
  const text = await readText(process, file)
  const name = file === '-' ? 'stdin' : file
  return { tree: parseSpec(text, name), text, name }
}

const fileHere = (process: Process) =>
  existsSync(pathIn(process, usualFile)) ? usualFile : undefined

/** The JobSpec of a command, including the values that its options set. */
export async function specOf(
  api: Api,
  written: SpecTree | null,
  options: SpecOptions,
): Promise<SpecTree> {
  const spec = await baseSpec(api, written, options)
  if (options.project !== undefined) setAt(spec, 'metadata.project', options.project)
  if (options.name !== undefined) setAt(spec, 'metadata.name', options.name)
  if (options.gpus !== undefined)
    setAt(spec, 'spec.resources.gpus_per_node', count(options.gpus, '--gpus'))
  if (options.nodes !== undefined)
    setAt(spec, 'spec.resources.nodes', count(options.nodes, '--nodes'))
  await setGiven(api, spec, options)
  return spec
}

const params = 'spec.params.'

async function setGiven(api: Api, spec: SpecTree, { set, param, env }: SpecOptions): Promise<void> {
  const given = [
    ...set.map(text => assignment(text, '--set')),
    ...param.map(text => assignment(text, '--param')).map(([key, text]) => [params + key, text]),
  ] as [path: string, text: string][]
  const isRecipeNeeded = given.some(([path]) => path.startsWith(params))
  const parameters = isRecipeNeeded ? await parametersOf(api, spec) : {}
  for (const [path, text] of given) {
    const own = path.startsWith(params) ? parameters[path.slice(params.length)] : undefined
    const schemas = path.startsWith(params) ? [own ?? {}] : schemasAt(path)
    setAt(spec, path, readValue(text, schemas))
  }
  for (const [name, value] of env.map(variable)) setAt(spec, `spec.env.${name}`, value)
}

async function baseSpec(
  api: Api,
  written: SpecTree | null,
  options: SpecOptions,
): Promise<SpecTree> {
  if (written !== null) {
    if (options.recipe !== undefined) written.lock = toLock(await recipeNamed(api, options.recipe))
    return written
  }
  if (options.recipe === undefined)
    throw usageFailure(
      `There is no job: give a JobSpec with -f (there is no ${usualFile} here), or --recipe and --project`,
    )
  if (options.project === undefined)
    throw usageFailure('--project is missing: name the project that the run belongs to')
  const recipe = await recipeNamed(api, options.recipe)
  const { project, name } = options
  const spec = specOfRecipe({ lock: toLock(recipe), project, name })
  const { min_nodes } = recipe.resources
  if (min_nodes > 1) setAt(spec, 'spec.resources.nodes', min_nodes)
  return spec
}

function count(text: string, flag: string): number {
  if (!/^\d+$/.test(text)) throw usageFailure(`${flag} ${text}: give a whole number`)
  return Number(text)
}

async function readText(process: Process, path: string): Promise<string> {
  if (path === '-') return textOfStdin(process)
  return readFile(pathIn(process, path), 'utf8').catch(error => {
    if (error.code === 'ENOENT') throw usageFailure(`No such file: ${path}`)
    throw usageFailure(`${path} cannot be read: ${error.message}`)
  })
}

export type Source = { spec: SpecTree; written: Written | null; options: SpecOptions }

/** A refusal with suggested spellings (keys of the JobSpec, parameters of the recipe) and the place in the file. */
export async function explained(api: Api, source: Source, error: unknown): Promise<unknown> {
  if (!(error instanceof Failure)) return error
  const failure = await withWhatWasMeant(api, source.spec, error)
  return withPlaces(failure, originIn(source))
}

async function withWhatWasMeant(api: Api, spec: SpecTree, failure: Failure): Promise<Failure> {
  if (failure.fields.gate !== 'params') return withSpelling(failure)
  const { name, version } = (spec.lock ?? {}) as { name?: string; version?: string }
  const recipe = await api
    .find<Recipe>(`/api/recipes/${segment(String(name))}/${segment(String(version))}`)
    .catch(() => null)
  return recipe ? withParameters(failure, recipe, paramsOf(spec)) : failure
}

const paramsOf = ({ spec }: SpecTree): string[] =>
  Object.keys((spec as { params?: object } | undefined)?.params ?? {})

/** The sources of a job's values. */
export function originIn({ written, options }: Omit<Source, 'spec'>): Origin {
  const setBy = new Map<string, string>()
  const note = (path: string, option: string | undefined, flag: string) =>
    option !== undefined && setBy.set(path, flag)
  note('lock', options.recipe, '--recipe')
  note('metadata.project', options.project, '--project')
  note('metadata.name', options.name, '--name')
  note('spec.resources.gpus_per_node', options.gpus, '--gpus')
  for (const text of options.set) setBy.set(assignment(text, '--set')[0], '--set')
  for (const text of options.param)
    setBy.set(`spec.params.${assignment(text, '--param')[0]}`, '--param')
  for (const text of options.env) setBy.set(`spec.env.${variable(text)[0]}`, '--env')
  return originOf(written, setBy)
}
