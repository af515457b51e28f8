import type { Command } from 'commander'
import type { BenchmarkRow } from '../../../schemas/benchmarks.ts'
import { segment } from '../api/client.ts'
import { everyPage } from '../api/every-page.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { type CommonOptions, openSignedIn, type World } from '../program/session.ts'
import { amount, toNumber } from '../terminal/amounts.ts'
import { toJson } from '../terminal/harmless.ts'
import { type Column, table } from '../terminal/table.ts'

type BenchmarksOptions = CommonOptions & { benchmark?: string }
type Line = { row: BenchmarkRow; score: BenchmarkRow['scores'][number] }

export const describeBenchmarks = (command: Command): Command =>
  command
    .argument('<run>', 'run id or short id')
    .description('what a run scored in benchmarks, and what it scored before')
    .option('-b, --benchmark <name>', 'in this one')

export async function benchmarks(
  world: World,
  id: string,
  { benchmark, ...options }: BenchmarksOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const path = `/api/runs/${segment(id)}/benchmarks`
  const rows = await everyPage<BenchmarkRow>(api, path, { benchmark })
  if (isJson) terminal.data(toJson(rows))
  else if (rows.length === 0) terminal.note('No benchmark was recorded')
  else {
    const lines = rows.flatMap(row => row.scores.map(score => ({ row, score })))
    const paintTitle = (text: string) => terminal.paint('dim', text)
    for (const line of table(columns, lines, { width: terminal.columns(), paintTitle }))
      terminal.data(line)
  }
  return exitCode.ok
}

const columns: Column<Line>[] = [
  { title: 'BENCHMARK', cell: ({ row }) => nameOf(row), shrinks: true },
  { title: 'SPLIT', cell: ({ row }) => row.split ?? '-', drops: true },
  {
    title: 'AT',
    cell: ({ row }) => row.artifact_id ?? (row.step === null ? '-' : `step ${row.step}`),
  },
  { title: 'METRIC', cell: ({ score }) => score.metric, shrinks: true },
  { title: 'SCORE', cell: ({ score }) => withError(score), align: 'right' },
  { title: 'BEFORE', cell: ({ row, score }) => beforeOf(row, score.metric), align: 'right' },
  { title: 'RECORDED', cell: ({ row }) => row.recorded_at, drops: true },
]

const nameOf = ({ benchmark, version, task }: BenchmarkRow) =>
  `${benchmark}${version === null ? '' : `@${version}`}${task === null ? '' : ` ${task}`}`

const withError = ({ value, stderr }: Line['score']) =>
  `${amount(toNumber(value))}${stderr === null ? '' : ` ± ${amount(stderr, 2)}`}`

/** What the same result had before, if it was recorded more than once. */
function beforeOf({ history }: BenchmarkRow, metric: string): string {
  const score = history[0]?.scores.find(one => one.metric === metric)
  return score ? amount(toNumber(score.value)) : ''
}
