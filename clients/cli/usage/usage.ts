import { type Command, Option } from 'commander'
import { everyPage } from '../api/every-page.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { type CommonOptions, openSignedIn, type World } from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import { type Column, table } from '../terminal/table.ts'

type Usage = {
  group: string
  gpu_seconds: number
  gpu_hours: string
  cost: string
  currency: string
  runs: number
}

type UsageOptions = CommonOptions & { group: string; from?: string; to?: string }

export const describeUsage = (command: Command): Command =>
  command
    .description('GPU hours and what they cost: yours and those of your projects')
    .addOption(
      new Option('-g, --group <by>', 'what to add up by')
        .choices(['user', 'project', 'day'])
        .default('user'),
    )
    .option('--from <day>', 'the first UTC day, e.g. 2026-11-01; 30 days in all by default')
    .option('--to <day>', 'the last one; today by default')

export async function usage(world: World, options: UsageOptions): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const { group, from, to } = options
  const rows = await everyPage<Usage>(api, '/api/usage', { group, from, to })
  if (isJson) terminal.data(toJson(rows))
  else if (rows.length === 0) terminal.note('Nothing was used in these days.')
  else
    for (const line of table(columns(group), rows, {
      width: terminal.columns(),
      paintTitle: text => terminal.paint('dim', text),
    }))
      terminal.data(line)
  return exitCode.ok
}

const columns = (group: string): Column<Usage>[] => [
  { title: group.toUpperCase(), cell: row => row.group, shrinks: true },
  { title: 'GPU-HOURS', cell: row => row.gpu_hours, align: 'right' },
  { title: 'COST', cell: row => `${row.cost} ${row.currency}`, align: 'right' },
  { title: 'RUNS', cell: row => String(row.runs), align: 'right' },
]
