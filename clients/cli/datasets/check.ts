import { basename } from 'node:path'
import { type DatasetReport, type Kind, kinds } from '../../../datasets/report.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import type { CommonOptions, Texts, World } from '../program/session.ts'
import { counted, size } from '../terminal/amounts.ts'
import { toJson } from '../terminal/harmless.ts'
import { checkFiles, localFiles, tokenizerIn } from './files.ts'

type CheckOptions = CommonOptions & Texts<'tokenizer'> & { kind?: Kind }

export const ofKind = {
  '--kind <kind>': { text: 'recognised by the fields if left out', choices: kinds },
}

export const describeDatasetCheck = describe({
  text: 'read files as the server will, and name the lines with faults; sends nothing',
  operands: { '<files...>': 'files or folders: .jsonl, .csv, .tsv or .parquet' },
  options: {
    ...ofKind,
    '--tokenizer <file>': 'a tokenizer.json, to count tokens as well',
  },
  after: `
A file belongs to the split that its name or folder says: train, validation or test; otherwise to train.
The exit code is 1 if a line has a fault.`,
})

export async function datasetCheck(
  world: World,
  named: readonly string[],
  { kind = null, tokenizer, json }: Omit<CheckOptions, 'kind'> & { kind?: Kind | null },
): Promise<ExitCode> {
  const files = await localFiles(world.process, named)
  const counter =
    tokenizer === undefined
      ? null
      : { name: basename(tokenizer, '.json'), json: await tokenizerIn(world.process, tokenizer) }
  const report = await checkFiles(world, files, { kind, tokenizer: counter })
  if (json) world.terminal.data(toJson(withoutIndexes(report)))
  else showReport(world, report)
  return report.error_count === 0 ? exitCode.ok : exitCode.faulty
}

/** Where rows are in a file is of use to the server only. */
export const withoutIndexes = ({ files, ...report }: DatasetReport) => ({
  ...report,
  files: files.map(({ name, rows, bytes }) => ({ name, rows, bytes })),
})

const number = (value: number) => value.toLocaleString('en')

function showReport({ terminal }: World, report: DatasetReport): void {
  showErrors({ terminal }, report)
  const { kind, rows, bytes, splits, duplicates, overlap, estimated, tokens } = report
  const parts = Object.entries(splits).map(([split, of]) => `${split} ${number(of.rows)}`)
  const about = estimated ? 'about ' : ''
  const lines = [
    `${kind ?? 'no kind'}, ${counted(rows, 'row')}, ${size(bytes)}: ${parts.join(', ')}`,
    ...(duplicates > 0 ? [`${about}${number(duplicates)} duplicates of earlier rows`] : []),
    ...overlap.map(
      ({ splits: [one, other], rows: shared }) =>
        `${about}${number(shared)} rows are in ${one} and in ${other}`,
    ),
    ...Object.entries(tokens).map(([name, count]) => `${number(count)} tokens of ${name}`),
  ]
  for (const line of lines) terminal.note(line)
}

/** A line for each error, as compilers write them. */
export function showErrors(
  { terminal }: Pick<World, 'terminal'>,
  { errors, error_count: count }: Pick<DatasetReport, 'errors' | 'error_count'>,
): void {
  for (const { file, line, message } of errors) terminal.data(`${file}:${line}: ${message}`)
  if (count > errors.length) terminal.note(`${number(count - errors.length)} more errors`)
  if (count > 0) terminal.note(`${counted(count, 'error')}; correct these lines and try again`)
}
