import { writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { stringify } from 'yaml'
import { describe } from '../program/describe.ts'
import { exitCode, Failure, usageFailure } from '../program/failure.ts'
import { type Process, pathIn } from '../program/process.ts'
import { request } from '../program/request.ts'
import type { CommonOptions, Session, Texts } from '../program/session.ts'
import { type CatalogueRow, everyRecipe, recipeNamed } from '../recipes/catalogue.ts'
import { dialect } from './spec/job-spec.ts'
import { limitsOf, typeOf } from './spec/parameters.ts'
import { usualFile } from './spec/source.ts'

type InitOptions = CommonOptions & Texts<'project' | 'name'> & { file: string }

export const describeInit = describe({
  text: 'write a JobSpec for a recipe, with its lock and all of its parameters',
  operands: { '[recipe[@version]]': '' },
  options: {
    '-f, --file <path>': ['where to; an existing file is never overwritten', usualFile],
    '-p, --project <name>': 'the project of its runs; by default named after this folder',
    '-n, --name <name>': 'name of the job; by default the name of the recipe',
  },
})

type Begun = { file: string; recipe: { name: string; version: string }; project: string }

export const init = request<Begun, InitOptions>({
  async send(session, options, asked) {
    const { api, process } = session
    const recipe = asked === undefined ? await onlyRecipe(session) : await recipeNamed(api, asked)
    const { name, version } = recipe
    const { file, project = projectOf(process.cwd()) } = options
    const text = jobFile(recipe, { file, project, name: options.name ?? name })
    await writeNew(process, file, text)
    return { file, recipe: { name, version }, project }
  },
  note: ({ file, recipe: { name, version }, project }) => [
    `${file} is a job of ${name} ${version} in the project ${project}`,
    `  forge submit -f ${file} --follow`,
  ],
})

async function onlyRecipe({ api }: Session): Promise<CatalogueRow> {
  const recipes = (await everyRecipe(api)).filter(({ deprecated }) => !deprecated)
  const newest = recipes.filter((row, at) => recipes[at - 1]?.name !== row.name)
  const [only] = newest
  if (only && newest.length === 1) return only
  throw usageFailure(
    'Name the recipe: forge init RECIPE',
    ...newest.map(({ name, title }) => `  ${name}  ${title}`),
  )
}

async function writeNew(process: Process, file: string, text: string): Promise<void> {
  await writeFile(pathIn(process, file), text, { flag: 'wx' }).catch(error => {
    if (error.code !== 'EEXIST') throw usageFailure(`${file} cannot be written: ${error.message}`)
    throw new Failure(exitCode.conflict, `${file} exists and was left unchanged`, {
      lines: ['hint: name another with -f; forge recipe lock -f FILE follows the catalogue'],
    })
  })
}

/** A project's name made of a folder's. */
export function projectOf(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9_.-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 63)
  return name === '' || name.startsWith('run_') ? 'demo' : name
}

type Job = { file: string; project: string; name: string }

/** A JobSpec with a comment for each choice. */
export function jobFile(recipe: CatalogueRow, { file, project, name }: Job): string {
  const { framework, resources } = recipe
  const profiles = resources.profiles.length > 0 ? resources.profiles.join(', ') : 'any'
  return [
    `# ${inOneLine(`A job of the recipe ${recipe.name}: ${recipe.title}`)}`,
    `# Check without submitting: forge plan -f ${file}. Submit it: forge submit -f ${file} --follow`,
    `api: ${dialect}`,
    'metadata:',
    `  name: ${scalar(name)}`,
    `  project: ${scalar(project)}  # its first job creates it`,
    '  tags: []',
    '',
    `# Exactly this recipe. To follow the catalogue: forge recipe lock -f ${file}`,
    'lock:',
    `  name: ${scalar(recipe.name)}`,
    `  version: ${scalar(recipe.version)}`,
    `  digest: ${scalar(recipe.digest)}`,
    '  framework:',
    ...Object.entries(framework).map(([key, value]) => `    ${key}: ${scalar(value)}`),
    '',
    'spec:',
    ...paramLines(recipe),
    '',
    `  # forge profile list shows what there is; the recipe is for: ${inOneLine(profiles)}`,
    '  resources:',
    `    gpus_per_node: ${resources.min_gpus}`,
    ...(resources.min_nodes > 1 ? [`    nodes: ${resources.min_nodes}`] : []),
    '    # profile: local',
    '',
    '  # Files of this folder for the run, without those that .gitignore and .forgeignore name:',
    '  # source: {kind: package}',
    '  # How many steps a stop or a lost machine may cost:',
    '  # checkpoints: {every_steps: 500}',
    '  # limits: {max_duration_s: 86400, stop_grace_s: 300}',
    '  # retry: {max_attempts: 3}',
    '',
  ].join('\n')
}

function paramLines({ params_schema, params_default }: CatalogueRow): string[] {
  const known = params_schema.properties ?? {}
  const names = [...new Set([...Object.keys(known), ...Object.keys(params_default)])]
  if (names.length === 0) return ['  params: {}']
  const lines = names.flatMap(name => {
    const schema = known[name] ?? {}
    const facts = [typeOf(schema), ...limitsOf(schema)].join(', ')
    const about = `    # ${inOneLine(`${schema.description ? `${schema.description} ` : ''}(${facts})`)}`
    const value = params_default[name]
    const key = scalar(name)
    return value === undefined ? [about, `    # ${key}:`] : [about, `    ${key}: ${toFlow(value)}`]
  })
  // A mapping of comments alone would be null.
  const hasValue = names.some(name => params_default[name] !== undefined)
  return hasValue ? ['  params:', ...lines] : ['  params: {}', ...lines]
}

const inOneLine = (text: string) => text.replaceAll(/\s+/g, ' ')

/** As it stands in a block, in one line. */
const scalar = (value: string) => stringify(value, { lineWidth: 0 }).trimEnd()

/** JSON is YAML. */
const toFlow = (value: unknown) =>
  typeof value === 'string' && !value.includes('\n') ? scalar(value) : JSON.stringify(value)
