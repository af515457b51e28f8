import type { Command } from 'commander'
import { segment } from '../api/client.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { type CommonOptions, openSignedIn, type World } from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import { type Column, table } from '../terminal/table.ts'

type Duty = {
  duty_id: string
  reactor: string
  state: string
  cause: string
  due_at: string
  attempts: number
  last_error: string | null
}

type ListOptions = CommonOptions & { state?: string; reactor?: string; limit?: string }

const path = '/api/admin/duties'

export const describeDutyList = (command: Command): Command =>
  command
    .description('what is still to be done, what is due first at the top')
    .option('--state <state>', 'only waiting, due, leased, parked, done or dropped ones')
    .option('--reactor <name>', 'only those of one reactor')
    .option('--limit <n>', 'at most so many, up to 500')

export const describeDutyRetry = (command: Command): Command =>
  command.argument('<duty>').description('try a duty again at once, with all its attempts')

export const describeDutyDrop = (command: Command): Command =>
  command.argument('<duty>').description('give a duty up for good: it is never performed')

export async function dutyList(world: World, options: ListOptions): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const { state, reactor, limit } = options
  const duties = await api.get<Duty[]>(path, { state, reactor, limit })
  if (isJson) terminal.data(toJson(duties))
  else for (const line of dutyLines(duties, terminal.columns())) terminal.data(line)
  return exitCode.ok
}

export async function dutyRetry(
  world: World,
  id: string,
  options: CommonOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const duty = await api.post<Duty>(`${path}/${segment(id)}/retry`, undefined)
  if (isJson) terminal.data(toJson(duty))
  else terminal.note(`${duty.reactor} will try ${duty.duty_id} again`)
  return exitCode.ok
}

export async function dutyDrop(
  world: World,
  id: string,
  options: CommonOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const duty = await api.delete<Duty>(`${path}/${segment(id)}`)
  if (isJson) terminal.data(toJson(duty))
  else terminal.note(`Dropped ${duty.duty_id} of ${duty.reactor}`)
  return exitCode.ok
}

function dutyLines(rows: readonly Duty[], width: number | null): string[] {
  const columns: Column<Duty>[] = [
    { title: 'DUTY', cell: row => row.duty_id },
    { title: 'REACTOR', cell: row => row.reactor, shrinks: true },
    { title: 'STATE', cell: row => row.state },
    { title: 'ATTEMPTS', cell: row => String(row.attempts), align: 'right' },
    { title: 'DUE', cell: row => row.due_at },
    { title: 'CAUSE', cell: row => row.cause, shrinks: true, drops: true },
    { title: 'ERROR', cell: row => row.last_error ?? '', shrinks: true },
  ]
  return table(columns, rows, { width })
}
