import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Session,
  type World,
} from '../program/session.ts'
import { amount, toNumber } from '../terminal/amounts.ts'
import { toJson } from '../terminal/harmless.ts'
import { table } from '../terminal/table.ts'

type Value = string | number | boolean | null
type Difference = { key: string; values: Value[] }
type Comparison = {
  runs: { short_id: string; name: string | null; state: string }[]
  hparams: Difference[]
  environment: Difference[]
  data: Difference[]
  metrics: {
    key: string
    last: (number | string)[]
    goal: 'min' | 'max'
    best: (number | null)[]
  }[]
}

export const describeCompare = describe({
  text: 'what differs between runs, and the final values of their common metrics',
  operands: { '<runs...>': '2 to 200 run ids or short ids' },
  options: {
    '--all': 'also identical values',
  },
})

export async function compare(
  world: World,
  ids: string[],
  options: CommonOptions & Flags<'all'>,
): Promise<ExitCode> {
  const comma = ids.find(id => id.includes(','))
  if (comma !== undefined) throw usageFailure(`${comma} is not a run; separate runs by spaces`)
  if (new Set(ids).size < 2) throw usageFailure('Name two runs or more')
  const session = await openSignedIn(world, options)
  const found = await session.api.get<Comparison>('/api/runs/compare', {
    ids: ids.join(','),
    ...(options.all && { rows: 'all' }),
  })
  if (session.isJson) session.terminal.data(toJson(found))
  else for (const line of comparisonLines(session, found)) session.terminal.data(line)
  return exitCode.ok
}

type Line = { title: string; cells: string[] }

function comparisonLines(
  { terminal }: Session,
  { runs, hparams, environment, data, metrics }: Comparison,
): string[] {
  const numbers = (values: readonly (number | string | null)[]) =>
    values.map(value => (value === null ? '-' : amount(toNumber(value))))
  const lines: Line[] = [
    { title: 'name', cells: runs.map(run => run.name ?? '') },
    { title: 'state', cells: runs.map(run => run.state) },
    ...[...data, ...hparams, ...environment].map(({ key, values }) => ({
      title: key,
      cells: values.map(textIn),
    })),
    ...metrics.flatMap(({ key, last, goal, best }) => [
      { title: key, cells: numbers(last) },
      { title: `${key} (${goal})`, cells: numbers(best) },
    ]),
  ]
  const columns = [
    { title: '', cell: (line: Line) => line.title },
    ...runs.map((run, at) => ({
      title: run.short_id,
      cell: (line: Line) => line.cells[at] ?? '',
      shrinks: true,
    })),
  ]
  const paintTitle = (text: string) => terminal.paint('dim', text)
  return table(columns, lines, { width: terminal.columns(), paintTitle })
}

const textIn = (value: Value) => (value === null ? '-' : String(value))
