import type { Difference } from '../../../schemas/environment.ts'
import { segment } from '../api/client.ts'
import { describe, oneRun } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Texts,
  type World,
} from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import { type Column, table } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'

type EnvOptions = CommonOptions & Texts<'against'> & Flags<'packages'>
type Answer = {
  digest: string | null
  captured_at: string | null
  environment: Record<string, unknown> | null
  differences?: Difference[]
}

export const describeEnv = describe({
  text: 'the software environment of a run; and RL environments, by the commands below',
  operands: oneRun,
  options: {
    '--against <run>': 'only the differences from another run',
    '--packages': 'with all packages',
  },
})

export async function env(
  world: World,
  id: string,
  { against, packages, ...options }: EnvOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const found = await api.get<Answer>(`/api/runs/${segment(id)}/environment`, { against })
  if (isJson) terminal.data(toJson(found))
  else if (found.differences) sayDifferences(terminal, found.differences, [id, against ?? ''])
  else if (found.environment === null) terminal.note('The run has reported no environment')
  else sayFacts(terminal, found.environment, packages === true)
  return exitCode.ok
}

function sayDifferences(
  terminal: Terminal,
  differences: readonly Difference[],
  [id, against]: [string, string],
): void {
  if (differences.length === 0) terminal.note('They do not differ')
  else sayTable(terminal, differenceColumns(id, against), differences)
}

const differenceColumns = (id: string, against: string): Column<Difference>[] => [
  { title: '', cell: one => one.key, shrinks: true },
  { title: id, cell: one => valueText(one.value), shrinks: true },
  { title: against, cell: one => valueText(one.against), shrinks: true },
]

type Fact = { name: string; value: string }

function sayFacts(
  terminal: Terminal,
  { packages, ...environment }: Record<string, unknown>,
  isWithPackages: boolean,
): void {
  const facts = [
    ...factsOf(environment),
    ...(isWithPackages ? factsOf({ packages }) : countOf(packages)),
  ]
  sayTable(
    terminal,
    [
      { title: '', cell: (fact: Fact) => fact.name },
      { title: '', cell: (fact: Fact) => fact.value, shrinks: true },
    ],
    facts,
  )
}

const countOf = (packages: unknown): Fact[] =>
  typeof packages === 'object' && packages !== null
    ? [{ name: 'packages', value: `${Object.keys(packages).length} (shown by --packages)` }]
    : []

/** Nested facts have dotted names, as in differences. */
function factsOf(value: unknown, name = ''): Fact[] {
  if (typeof value !== 'object' || value === null) return [{ name, value: valueText(value) }]
  return Object.entries(value).flatMap(([key, item]) =>
    factsOf(item, name === '' ? key : `${name}.${key}`),
  )
}

function sayTable<Row>(terminal: Terminal, columns: Column<Row>[], rows: readonly Row[]): void {
  const paintTitle = (text: string) => terminal.paint('dim', text)
  const lines = table(columns, rows, { width: terminal.columns(), paintTitle })
  for (const line of lines) if (line.trim() !== '') terminal.data(line)
}

const valueText = (value: unknown): string =>
  value === null || value === undefined ? '-' : String(value)
