import type { Command } from 'commander'
import { segment } from '../api/client.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { type CommonOptions, openSignedIn, type World } from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import { type Column, table } from '../terminal/table.ts'

type Letter = {
  letter_id: string
  topic: string
  key: string
  error: string
  bytes: number
}
type Detail = Letter & Record<string, string | number | null>

type ListOptions = CommonOptions & { topic?: string; run?: string; limit?: string }

const path = '/api/admin/dead-letters'

export const describeDeadLetterList = (command: Command): Command =>
  command
    .description('reports that were acknowledged and could not be applied')
    .option('--topic <topic>', 'only those of one topic')
    .option('--run <run>', 'only those of one run')
    .option('--limit <n>', 'at most so many, up to 500')

export const describeDeadLetterShow = (command: Command): Command =>
  command.argument('<letter>').description('show where such a report came from')

export const describeDeadLetterReplay = (command: Command): Command =>
  command.argument('<letter>').description('apply it after all, e.g. after an upgrade')

export const describeDeadLetterDrop = (command: Command): Command =>
  command.argument('<letter>').description('give it up: what it reports is lost')

export async function deadLetterList(world: World, options: ListOptions): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const { topic, run: run_id, limit } = options
  const letters = await api.get<Letter[]>(path, { topic, run_id, limit })
  if (isJson) terminal.data(toJson(letters))
  else for (const line of letterLines(letters, terminal.columns())) terminal.data(line)
  return exitCode.ok
}

export async function deadLetterShow(
  world: World,
  id: string,
  options: CommonOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const letter = await api.get<Detail>(`${path}/${segment(id)}`)
  if (isJson) terminal.data(toJson(letter))
  else
    for (const [name, value] of Object.entries(letter))
      if (name !== 'value' && value !== null) terminal.data(`${name}: ${value}`)
  return exitCode.ok
}

export async function deadLetterReplay(
  world: World,
  id: string,
  options: CommonOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const reply = await api.post<Letter>(`${path}/${segment(id)}/replay`, undefined)
  if (isJson) terminal.data(toJson(reply))
  else terminal.note(`Applied ${reply.letter_id}`)
  return exitCode.ok
}

export async function deadLetterDrop(
  world: World,
  id: string,
  options: CommonOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const reply = await api.delete<Letter>(`${path}/${segment(id)}`)
  if (isJson) terminal.data(toJson(reply))
  else terminal.note(`Dropped ${reply.letter_id}`)
  return exitCode.ok
}

function letterLines(rows: readonly Letter[], width: number | null): string[] {
  const columns: Column<Letter>[] = [
    { title: 'LETTER', cell: row => row.letter_id },
    { title: 'RUN', cell: row => row.key, shrinks: true },
    { title: 'BYTES', cell: row => String(row.bytes), align: 'right' },
    { title: 'ERROR', cell: row => row.error, shrinks: true },
  ]
  return table(columns, rows, { width })
}
