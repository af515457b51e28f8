import type { Command } from 'commander'
import { counted } from '../amounts.ts'
import { segment } from '../api.ts'
import { type ExitCode, exitCode } from '../failure.ts'
import { toJson } from '../harmless.ts'
import { type CommonOptions, openSignedIn, type World } from '../session.ts'
import { type Column, table } from '../table.ts'
import { type Wait, waitText } from '../waits.ts'

type Eta = Wait | null
type Row = {
  position: number | null
  short_id: string
  name: string
  owner: string
  reason: string | null
  gpus: number
  profile: string
  priority: number
  submitted_at: string
  eta_s: Eta
}
type Queue = {
  paused: { reason: string | null } | null
  draining: { engine: string; reason: string | null }[]
  waiting: { jobs: number; gpus: number; hidden: number }
  jobs: Row[]
}
type Explanation = {
  short_id: string
  state: string
  position: number | null
  reason: string | null
  detail: string
  eta_s: Eta
  ahead: {
    jobs: number
    gpus: number
    hidden: number
    first: { short_id: string; owner: string; gpus: number }[]
  }
  sooner: { detail: string }[]
}
type Engine = {
  engine: string
  draining: boolean
  reason: string | null
  since: string | null
  by: string | null
  running_jobs: number
}
type Switches = {
  paused: boolean
  reason: string | null
  changed_at: string | null
  changed_by: string | null
  engines: Engine[]
}

type ListOptions = CommonOptions & { limit: string }
type ReasonOptions = CommonOptions & { message?: string }

export const describeQueue = (command: Command): Command =>
  command
    .description('the jobs that wait, in the order in which they are to start')
    .option('-l, --limit <count>', 'at most this many', '50')

export const describeQueueExplain = (command: Command): Command =>
  command
    .argument('<run>', 'run id or short id')
    .description('why a job waits, who is ahead of it, and what would start it sooner')

export async function queueList(world: World, options: ListOptions): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const queue = await api.get<Queue>('/api/queue', { limit: options.limit })
  if (isJson) {
    terminal.data(toJson(queue))
    return exitCode.ok
  }
  for (const line of closedLines(queue)) terminal.note(line)
  if (queue.jobs.length > 0)
    for (const line of table(columns, queue.jobs, { width: terminal.columns() }))
      terminal.data(line)
  const { jobs, hidden } = queue.waiting
  if (jobs === 0) terminal.note('No job waits')
  if (hidden > 0) terminal.note(`${hidden} of ${jobs} waiting jobs are not yours to see`)
  return exitCode.ok
}

const because = (reason: string | null) => (reason === null ? '' : `: ${reason}`)

const closedLines = ({ paused, draining }: Queue): string[] => [
  ...(paused ? [`The queue is paused${because(paused.reason)}`] : []),
  ...draining.map(({ engine, reason }) => `${engine} is being drained${because(reason)}`),
]

const columns: Column<Row>[] = [
  { title: 'PLACE', cell: row => String(row.position ?? '-'), align: 'right' },
  { title: 'RUN', cell: row => row.short_id },
  { title: 'REASON', cell: row => row.reason ?? '' },
  { title: 'STARTS', cell: row => (row.eta_s ? waitText(row.eta_s) : '') },
  { title: 'GPUS', cell: row => String(row.gpus), align: 'right' },
  { title: 'NAME', cell: row => row.name, shrinks: true },
  { title: 'PRIORITY', cell: row => String(row.priority), align: 'right', drops: true },
  { title: 'PROFILE', cell: row => row.profile, shrinks: true, drops: true },
  { title: 'OWNER', cell: row => row.owner, shrinks: true },
]

export async function queueExplain(
  world: World,
  id: string,
  options: CommonOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const told = await api.get<Explanation>(`/api/queue/${segment(id)}`)
  if (isJson) terminal.data(toJson(told))
  else for (const line of explanationLines(told)) terminal.data(line)
  return exitCode.ok
}

function explanationLines(told: Explanation): string[] {
  const { short_id, position, detail, ahead, eta_s, sooner } = told
  const place = position === null ? '' : `, place ${position}`
  const hidden = ahead.hidden > 0 ? `, ${ahead.hidden} of them not yours to see` : ''
  return [
    `${short_id}: ${told.state}${place}`,
    detail,
    ...(ahead.jobs > 0
      ? [`Ahead of it: ${counted(ahead.jobs, 'job')} with ${counted(ahead.gpus, 'GPU')}${hidden}`]
      : []),
    ...ahead.first.map(
      other => `  ${other.short_id}  ${counted(other.gpus, 'GPU')}  ${other.owner}`,
    ),
    ...(eta_s ? [`Expected to start ${waitText(eta_s)}`] : []),
    ...(sooner.length > 0 ? ['What would start it sooner:'] : []),
    ...sooner.map(way => `  ${way.detail}`),
  ]
}

const message = (command: Command) => command.option('-m, --message <text>', 'why, for everybody')

export const describeQueuePause = (command: Command): Command =>
  message(command.description('start no job; those that run go on'))
export const describeQueueResume = (command: Command): Command =>
  command.description('start jobs again')
export const describeQueueStatus = (command: Command): Command =>
  command.description('whether the queue is paused, and which engines are being drained')
export const describeDrain = (command: Command): Command =>
  message(
    command
      .argument('<engine>', 'an executor by its name, or a machine by its id')
      .description('start no job on an engine; those that run there go on'),
  )
export const describeUndrain = (command: Command): Command =>
  command.argument('<engine>').description('start jobs on an engine again')

export const queuePause = (world: World, { message: reason, ...options }: ReasonOptions) =>
  switchQueue(world, options, { paused: true, reason: reason ?? null })
export const queueResume = (world: World, options: CommonOptions) =>
  switchQueue(world, options, { paused: false })

async function switchQueue(world: World, options: CommonOptions, body: object): Promise<ExitCode> {
  const { api } = await openSignedIn(world, options)
  return showSwitches(world, options, await api.put<Switches>('/api/admin/queue', body))
}

export async function queueStatus(world: World, options: CommonOptions): Promise<ExitCode> {
  const { api } = await openSignedIn(world, options)
  return showSwitches(world, options, await api.get<Switches>('/api/admin/queue'))
}

function showSwitches({ terminal }: World, { json }: CommonOptions, state: Switches): ExitCode {
  if (json) terminal.data(toJson(state))
  else {
    const by = state.changed_at === null ? '' : ` since ${state.changed_at}, by ${state.changed_by}`
    terminal.data(state.paused ? `paused${by}${because(state.reason)}` : `open${by}`)
    for (const engine of state.engines) terminal.data(engineText(engine))
  }
  return exitCode.ok
}

const engineText = ({ engine, draining, reason, since, by, running_jobs }: Engine) =>
  draining
    ? `${engine}: draining since ${since}, by ${by}${because(reason)}; ${running_jobs} jobs still run`
    : `${engine}: open, ${running_jobs} jobs run`

export const drain = (
  world: World,
  engine: string,
  { message: reason, ...options }: ReasonOptions,
) => changeEngine(world, engine, options, { draining: true, reason: reason ?? null })
export const undrain = (world: World, engine: string, options: CommonOptions) =>
  changeEngine(world, engine, options, { draining: false })

async function changeEngine(
  world: World,
  engine: string,
  options: CommonOptions,
  body: object,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const row = await api.put<Engine>(`/api/admin/engines/${segment(engine)}`, body)
  terminal.data(isJson ? toJson(row) : engineText(row))
  return exitCode.ok
}
