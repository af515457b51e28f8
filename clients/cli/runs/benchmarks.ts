import type { BenchmarkRow } from '../../../schemas/benchmarks/results.ts'
import { segment } from '../api/client.ts'
import { everyPage } from '../api/every-page.ts'
import { describe, oneRun } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { type CommonOptions, openSignedIn, type Texts, type World } from '../program/session.ts'
import { amount, toNumber } from '../terminal/amounts.ts'
import { toJson } from '../terminal/harmless.ts'
import { type Column, showTable } from '../terminal/table.ts'

type BenchmarksOptions = CommonOptions & Texts<'benchmark'>
type Line = { row: BenchmarkRow; score: BenchmarkRow['scores'][number] }

export const describeBenchmarks = describe({
  text: 'the benchmark scores of a run, and its previous scores',
  operands: oneRun,
  options: {
    '-b, --benchmark <name>': 'in this one',
  },
})

export async function benchmarks(
  world: World,
  id: string,
  { benchmark, ...options }: BenchmarksOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const path = `/api/runs/${segment(id)}/benchmarks`
  const rows = await everyPage<BenchmarkRow>(api, path, { benchmark })
  const scores = rows.flatMap(row => row.scores.map(score => ({ row, score })))
  if (isJson) terminal.data(toJson(rows))
  else if (rows.length === 0) terminal.note('No benchmark was recorded')
  else showTable(terminal, columns, scores)
  return exitCode.ok
}

const columns: Column<Line>[] = [
  { title: 'BENCHMARK', cell: ({ row }) => nameOfBenchmark(row), shrinks: true },
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

const nameOfBenchmark = ({ benchmark, version, task }: BenchmarkRow) =>
  `${benchmark}${version === null ? '' : `@${version}`}${task === null ? '' : ` ${task}`}`

/** A score, and its standard error if it has one. */
export const withError = ({ value, stderr }: Pick<Line['score'], 'value' | 'stderr'>) =>
  `${amount(toNumber(value))}${stderr === null ? '' : ` ± ${amount(stderr, 2)}`}`

/** The previous score of the same result, if it was recorded more than once. */
function beforeOf({ history }: BenchmarkRow, metric: string): string {
  const score = history[0]?.scores.find(one => one.metric === metric)
  return score ? amount(toNumber(score.value)) : ''
}
