import { describe, ofProject } from '../program/describe.ts'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import { list, record } from '../program/list.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Session,
  type Texts,
  type World,
} from '../program/session.ts'
import { counted } from '../terminal/amounts.ts'
import { ask, linesOfStdin } from '../terminal/ask.ts'
import { toJson } from '../terminal/harmless.ts'
import {
  type Deployment,
  deltasText,
  findDeployment,
  oneDeployment,
  pathOfDeployment,
  type Revision,
} from './find.ts'
import {
  type OriginOptions,
  originOptions,
  originsOf,
  type ScaleOptions,
  scaleOf,
  scaleOptions,
} from './set.ts'
import { untilReady } from './until-ready.ts'

export const describeDeployList = describe({
  text: 'the deployments you may read',
  options: ofProject,
})

export const deployList = list<Deployment, CommonOptions & Texts<'project'>>({
  path: '/api/deployments',
  filters: ({ project }) => ({ project }),
  shown: {
    columns: [
      { title: 'NAME', cell: row => row.name, shrinks: true },
      { title: 'PROJECT', cell: row => row.project, shrinks: true },
      { title: 'STATE', cell: row => row.state },
      { title: 'ENGINES', cell: ({ replicas: { ready, desired } }) => `${ready}/${desired}` },
      { title: 'TOKENS', cell: row => String(row.token_count), align: 'right' },
      { title: 'ID', cell: row => row.deployment_id, drops: true },
    ],
    none: 'No deployments yet: forge deploy create NAME --run RUN --template TEMPLATE',
    isJsonByLine: true,
  },
})

export const describeDeployShow = describe({
  text: 'a deployment, its revisions and checks',
  operands: oneDeployment,
})

export const deployShow = record<Deployment, Revision>({
  find: findDeployment,
  lines({ name, project, state, state_reason, base_url, replicas, cost_24h, ...more }) {
    const { allowed_origins, benchmark_gates: gates } = more
    const why = state_reason === null ? '' : `: ${state_reason}`
    const cost = cost_24h === null ? '' : `, cost ${cost_24h} in the last 24 hours`
    return [
      `${project}/${name}  ${state}${why}`,
      `${base_url}  ${replicas.ready} of ${replicas.desired} engines respond${cost}`,
      ...(allowed_origins.length > 0
        ? [`web pages of ${allowed_origins.join(', ')} may call it`]
        : []),
      ...(gates.length > 0 ? [`a promotion must not lower the scores of ${gates.join(', ')}`] : []),
    ]
  },
  below: {
    name: 'revisions',
    path: ({ deployment_id }) => `${pathOfDeployment(deployment_id)}/revisions`,
    columns: [
      { title: 'REV', cell: ({ number, promoted }) => `${number}${promoted ? ' *' : ''}` },
      { title: 'STATE', cell: row => row.state },
      { title: 'SERVES', cell: row => servedBy(row), shrinks: true },
      {
        title: 'CHECKS',
        cell: ({ checks }) =>
          checks
            .map(({ name, ok, latency_ms }) => `${name} ${ok ? `${latency_ms} ms` : 'failed'}`)
            .join(', ') || '-',
      },
      { title: 'BENCHMARKS', cell: ({ gates }) => deltasText(gates), shrinks: true, drops: true },
      { title: 'WHY', cell: row => row.state_reason ?? '', shrinks: true, drops: true },
    ],
  },
})

const servedBy = ({ source }: Revision): string =>
  source.model ?? source.artifact_id ?? source.hub_ref ?? source.url ?? source.kind

type SourceOptions = CommonOptions &
  Texts<'run' | 'artifact' | 'model' | 'template' | 'profile' | 'url' | 'header'> &
  Flags<'best' | 'headerStdin'> & { served?: string[]; wait: boolean }

const sourceOptions = {
  '--run <run>': 'serve the latest checkpoint of a run',
  '--best': 'with --run: its best checkpoint, by the metric that its spec names',
  '--artifact <id>': 'serve an artifact',
  '--model <name@alias>':
    'serve a version of a registered model, or a model of the hub (hub:ORG/NAME)',
  '--template <name>': 'what serves it, e.g. vllm, llama-cpp, tiny-lm',
  '--profile <name>': 'the machine that serves it',
  '--served <names...>': 'names of the model for its clients',
  '--url <url>': 'or the address of a running engine, up to /v1',
  '--header <name>': 'with --url: a header that the engine requires; asks for its value',
  '--header-stdin': 'read the value of --header from standard input',
  '--no-wait': 'do not wait until it is ready',
}

export const describeDeployCreate = describe({
  text: 'serve a model at an address that never changes',
  operands: { '<name>': '' },
  options: {
    ...scaleOptions,
    ...originOptions,
    '-p, --project <name>': 'whose members may use it; defaults to the project of the run',
    ...sourceOptions,
  },
})

export async function deployCreate(
  world: World,
  name: string,
  options: SourceOptions & ScaleOptions & OriginOptions & { project?: string },
): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const { project } = options
  const body = {
    ...{ name, ...(project !== undefined && { project }), ...scaleOf(options) },
    ...originsOf(options),
    ...(await servedOf(session, options)),
  }
  const made = await session.api.post<Made>('/api/deployments', body, { creates: true })
  if (!options.wait) return report(session, made)
  session.terminal.note(`${made.deployment_id}: waiting until it responds`)
  return report(session, { ...made, ...(await untilReady(session, made)) })
}

export const describeDeployRevise = describe({
  text: 'make another revision; forge deploy promote sends requests to it',
  operands: oneDeployment,
  options: {
    '--promote': 'promote it as soon as it is ready',
    ...sourceOptions,
  },
})

export async function deployRevise(
  world: World,
  named: string,
  options: SourceOptions & { promote?: boolean },
): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const { deployment_id } = await findDeployment(session.api, named)
  const body = { ...(await servedOf(session, options)), promote: options.promote === true }
  const path = `${pathOfDeployment(deployment_id)}/revisions`
  const made = await session.api.post<Made>(path, body, { creates: true })
  if (!options.wait) return report(session, made)
  session.terminal.note(`${made.revision_id}: waiting until it responds`)
  return report(session, { ...made, ...(await untilReady(session, made)) })
}

type Made = { deployment_id: string; revision_id: string; state: string; base_url?: string }

async function servedOf(world: World, options: SourceOptions) {
  const { template, profile, served: served_names } = options
  const given = { template, profile, served_names }
  const serving = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  )
  return { source: await sourceOf(world, options), serving }
}

async function sourceOf({ process }: World, options: SourceOptions) {
  const { run, best, artifact, model, url, header, headerStdin } = options
  const named = [run, artifact, model, url].filter(one => one !== undefined)
  if (named.length !== 1)
    throw usageFailure('Say what to serve: one of --run, --artifact, --model and --url')
  if (run !== undefined) return { kind: 'run', run_id: run, select: best ? 'best' : 'latest' }
  if (model?.startsWith('hub:')) return { kind: 'hub', hub_ref: model }
  if (model !== undefined) return { kind: 'model', model }
  if (artifact !== undefined) return { kind: 'artifact', artifact_id: artifact }
  if (header === undefined) return { kind: 'external', url }
  const value = headerStdin
    ? (await linesOfStdin(process))[0]?.trim()
    : await ask(process, `Value of ${header}: `, '--header-stdin', { isHidden: true })
  return { kind: 'external', url, header: { name: header, value } }
}

function report({ terminal, isJson }: Session, made: Made): ExitCode {
  if (isJson) terminal.data(toJson(made))
  else {
    terminal.data(`${made.revision_id} ${made.state}`)
    if (made.base_url) terminal.data(made.base_url)
    if (made.base_url) terminal.note(`hint: forge deploy token new ${made.deployment_id} NAME`)
  }
  return exitCode.ok
}

type Deletion = {
  breaks: { base_url: string; tokens: string[]; revisions: number; replicas: number }
}

export const describeDeployRemove = describe({
  text: 'delete a deployment with its address and tokens, after showing what ends',
  operands: oneDeployment,
  options: {
    '-y, --yes': 'do not ask',
  },
})

export async function deployRemove(
  world: World,
  named: string,
  options: CommonOptions & Flags<'yes'>,
): Promise<ExitCode> {
  const { api, terminal, isJson, process } = await openSignedIn(world, options)
  const { deployment_id, name } = await findDeployment(api, named)
  const path = pathOfDeployment(deployment_id)
  if (!options.yes) {
    const { breaks } = await api.delete<Deletion>(`${path}?dry_run=true`)
    terminal.note(`${breaks.base_url} will return 404 permanently`)
    terminal.note(`tokens that become invalid: ${breaks.tokens.join(', ') || 'none'}`)
    terminal.note(
      `also ends: ${counted(breaks.revisions, 'revision')} and ${counted(breaks.replicas, 'engine')}`,
    )
    const answer = await ask(process, `Delete ${name}? (yes/no) `, '--yes')
    if (!/^y(es)?$/i.test(answer.trim())) return exitCode.interrupted
  }
  const done = await api.delete<Deletion>(path)
  terminal.data(isJson ? toJson(done) : `${deployment_id} deleted`)
  return exitCode.ok
}
