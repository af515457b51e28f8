import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { duration } from '../amounts.ts'
import type { Admission } from '../answers.ts'
import { type Api, segment } from '../api.ts'
import { closest } from '../closest.ts'
import { type ExitCode, exitCode, Failure, usageFailure } from '../failure.ts'
import { followRun } from '../follow/follow.ts'
import { toJson } from '../harmless.ts'
import { assignment, parseSpec, type SpecTree, setAt, specOfRecipe } from '../job-spec.ts'
import { type Recipe, withParameters } from '../parameters.ts'
import { type CommonOptions, openSignedIn, type World } from '../session.ts'
import { withSpelling } from '../spelling.ts'
import type { Terminal } from '../terminal.ts'

type SubmitOptions = CommonOptions & {
  file?: string
  recipe?: string
  project?: string
  name?: string
  gpus?: string
  param: string[]
  set: string[]
  follow?: boolean
  detach?: boolean
}

const collect = (value: string, before: string[]) => [...before, value]

export function describeSubmit(command: Command): Command {
  return command
    .description('submit a job, from a JobSpec file or straight from a recipe')
    .option('-f, --file <path>', 'JobSpec as YAML or JSON; - reads standard input')
    .option('-r, --recipe <name[@version]>', "take this recipe's lock; without -f also the rest")
    .option('-p, --project <name>', 'project, where the file names none or another')
    .option('-n, --name <name>', 'name of the job')
    .option('--gpus <count>', 'GPUs on each node')
    .option('--param <key=value>', 'a parameter of the recipe; may be repeated', collect, [])
    .option('--set <path=value>', 'any value of the JobSpec, by its dotted path', collect, [])
    .option('--follow', 'show the run until it has ended; the exit code says how')
    .option('-d, --detach', 'return once the job is admitted (the default)')
    .addHelpText(
      'after',
      `
Examples:
  forge submit --recipe digits --project demo --param lr=0.01 --follow
  forge submit -f job.yaml --set spec.resources.gpus_per_node=8`,
    )
}

export async function submit(world: World, options: SubmitOptions): Promise<ExitCode> {
  if (options.follow && options.detach)
    throw usageFailure('--follow and --detach cannot be combined')
  const session = await openSignedIn(world, options)
  const { api, terminal, isJson } = session
  const spec = await specOf(api, options)
  const admission = await api
    .post<Admission>('/api/jobs', spec, { creates: true })
    .catch(async error => {
      throw await explained(api, spec, error)
    })
  if (!isJson) sayAdmitted(terminal, admission, `${api.host}/runs/${admission.run_id}`)
  if (!options.follow) {
    terminal.data(isJson ? toJson(admission) : admission.run_id)
    return exitCode.ok
  }
  if (isJson) terminal.data(toJson({ type: 'admitted', ...admission }))
  const metadata = spec.metadata as { name: string }
  const run = { ...admission, name: metadata.name, source: 'job' }
  return followRun(session, run, { keys: [], full: false })
}

/** A refusal with what could be meant: keys of the JobSpec, and the parameters of the recipe. */
async function explained(api: Api, spec: SpecTree, error: unknown): Promise<unknown> {
  if (!(error instanceof Failure)) return error
  if (error.fields.gate !== 'params') return withSpelling(error)
  const { name, version } = (spec.lock ?? {}) as { name?: string; version?: string }
  const recipe = await api
    .find<Recipe>(`/api/recipes/${segment(String(name))}/${segment(String(version))}`)
    .catch(() => null)
  return recipe ? withParameters(error, recipe, paramsOf(spec)) : error
}

const paramsOf = ({ spec }: SpecTree): string[] =>
  Object.keys((spec as { params?: object } | undefined)?.params ?? {})

async function specOf(api: Api, options: SubmitOptions): Promise<SpecTree> {
  const spec = await baseSpec(api, options)
  if (options.project !== undefined) setAt(spec, 'metadata.project', options.project)
  if (options.name !== undefined) setAt(spec, 'metadata.name', options.name)
  if (options.gpus !== undefined) setAt(spec, 'spec.resources.gpus_per_node', count(options.gpus))
  for (const text of options.set) setAt(spec, ...assignment(text, '--set'))
  for (const text of options.param) {
    const [key, value] = assignment(text, '--param')
    setAt(spec, `spec.params.${key}`, value)
  }
  return spec
}

async function baseSpec(api: Api, options: SubmitOptions): Promise<SpecTree> {
  if (options.file !== undefined) {
    const spec = parseSpec(await readText(options.file), options.file)
    if (options.recipe !== undefined) spec.lock = await lockOf(api, options.recipe)
    return spec
  }
  if (options.recipe === undefined)
    throw usageFailure('Nothing to submit: give a JobSpec with -f, or --recipe and --project')
  if (options.project === undefined)
    throw usageFailure('--project is missing: name the project that the run belongs to')
  const lock = await lockOf(api, options.recipe)
  return specOfRecipe({ lock, project: options.project, name: options.name })
}

function count(text: string): number {
  if (!/^\d+$/.test(text)) throw usageFailure(`--gpus ${text}: give a whole number`)
  return Number(text)
}

async function readText(path: string): Promise<string> {
  if (path === '-') {
    let text = ''
    for await (const chunk of process.stdin) text += chunk
    return text
  }
  return readFile(path, 'utf8').catch(error => {
    throw usageFailure(`${path} cannot be read: ${error.message}`)
  })
}

type RecipeRow = { name: string; version: string; deprecated: boolean }

/** The lock of the requested version of a recipe, or of its newest. */
export async function lockOf(api: Api, recipe: string): Promise<SpecTree> {
  const [name = '', asked] = recipe.split('@')
  const found = await api.find<RecipeRow>(`/api/recipes/${segment(name)}`)
  if (!found) throw await unknownRecipe(api, name)
  const version = asked ?? found.version
  return api.get<SpecTree>(`/api/recipes/${segment(name)}/${segment(version)}/lock`)
}

async function unknownRecipe(api: Api, name: string): Promise<Failure> {
  const known = (await api.get<RecipeRow[]>('/api/recipes')).map(row => row.name)
  const meant = closest(name, known)
  const hint = meant === null ? `known are ${known.join(', ') || 'none'}` : `did you mean ${meant}?`
  return new Failure(exitCode.refused, `No such recipe: ${name}; ${hint}`, { fields: { known } })
}

function sayAdmitted(terminal: Terminal, admitted: Admission, url: string): void {
  const { paintNote } = terminal
  terminal.note(`${paintNote('bold', admitted.short_id)} is admitted`)
  const { gates } = admitted.admission
  const quota = gates.find(({ gate }) => gate === 'quota')?.detail
  terminal.note(
    `  ${paintNote('green', '✓')} ${gates.length} gates passed${quota ? `; ${quota}` : ''}`,
  )
  for (const { detail } of admitted.admission.warnings)
    terminal.note(`  ${paintNote('yellow', '!')} ${detail}`)
  const eta = admitted.queue?.eta_s ? `, starts in about ${duration(admitted.queue.eta_s.p50)}` : ''
  const place = admitted.queue?.position ? `, place ${admitted.queue.position} in the queue` : ''
  const reason = admitted.state_reason ? ` (${admitted.state_reason})` : ''
  terminal.note(`  ${admitted.state}${reason}${place}${eta}`)
  terminal.note(`  ${url}`)
  terminal.note(`  forge watch ${admitted.short_id}`)
}
