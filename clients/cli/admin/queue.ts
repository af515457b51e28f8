import type { Command } from 'commander'
import { segment } from '../api/client.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { type CommonOptions, openSignedIn, type World } from '../program/session.ts'
import { because } from '../queue/queue.ts'
import { toJson } from '../terminal/harmless.ts'

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
type ReasonOptions = CommonOptions & { message?: string }

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
