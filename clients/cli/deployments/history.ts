import type { Command } from 'commander'
import { everyPage } from '../api/every-page.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { type CommonOptions, openSignedIn, type World } from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import { type Column, table } from '../terminal/table.ts'
import { type BenchmarkDelta, deltasText, findDeployment, pathOf } from './find.ts'

type Promotion = {
  at: string
  kind: 'promoted' | 'rolled_back'
  number: number
  actor: string
  reason: string
  diff: { field: string; from: unknown; to: unknown }[]
  benchmarks: BenchmarkDelta[]
}

export const describeDeployHistory = (command: Command): Command =>
  command
    .argument('<deployment>', 'name or id')
    .description('who promoted which revision when and why, and what differed')

export async function deployHistory(
  world: World,
  named: string,
  options: CommonOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const { deployment_id } = await findDeployment(api, named)
  const rows = await everyPage<Promotion>(api, `${pathOf(deployment_id)}/promotions`)
  if (isJson) for (const row of rows) terminal.data(toJson(row))
  else if (rows.length === 0) terminal.note('No revision was promoted yet')
  else for (const line of table(columns, rows, { width: terminal.columns() })) terminal.data(line)
  return exitCode.ok
}

const columns: Column<Promotion>[] = [
  { title: 'WHEN', cell: ({ at }) => at.slice(0, 19).replace('T', ' ') },
  { title: 'REV', cell: row => String(row.number), align: 'right' },
  { title: 'HOW', cell: ({ kind }) => kind.replace('_', ' ') },
  { title: 'BY', cell: row => row.actor, shrinks: true },
  { title: 'REASON', cell: row => row.reason, shrinks: true },
  { title: 'CHANGED', cell: row => row.diff.map(({ field }) => field).join(', '), shrinks: true },
  { title: 'BENCHMARKS', cell: row => deltasText(row.benchmarks), shrinks: true, drops: true },
]
