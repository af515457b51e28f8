import type {
  RewardHistogram,
  ValidationRound,
  ValidationSample,
} from '../../../schemas/validation.ts'
import { type Api, segment } from '../api/client.ts'
import { everyPage } from '../api/every-page.ts'
import { describe, oneRun } from '../program/describe.ts'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Session,
  type Texts,
  type World,
} from '../program/session.ts'
import { amount, toNumber } from '../terminal/amounts.ts'
import { bars } from '../terminal/bars.ts'
import { toJson } from '../terminal/harmless.ts'
import { type Column, showTable } from '../terminal/table.ts'
import { findRun } from './follow/run-events.ts'

type SamplesOptions = CommonOptions &
  Texts<'step' | 'prompt'> &
  Flags<'full'> & { sort: string; limit: string }

export const describeSamples = describe({
  text: 'the validation rounds of a run, and their samples with rewards',
  operands: oneRun,
  options: {
    '--step <step>': 'the samples of this round, and how its rewards are distributed',
    '--prompt <key>': 'one prompt through all rounds; the keys are listed with --step',
    '--sort <order>': ['with --step: index, reward (lowest first) or -reward', 'index'],
    '-l, --limit <n>': ['at most this many samples', '50'],
    '--full': 'print the samples in full instead of a line each',
  },
})

export async function samples(
  world: World,
  id: string,
  options: SamplesOptions,
): Promise<ExitCode> {
  const { step, prompt } = options
  if (step !== undefined && prompt !== undefined)
    throw usageFailure('--step and --prompt exclude each other: give one of them')
  if (step !== undefined && !Number.isSafeInteger(Number(step || Number.NaN)))
    throw usageFailure('--step STEP: give a whole number')
  const limit = Number(options.limit)
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw usageFailure('--limit N: give a whole number above 0')
  const session = await openSignedIn(world, options)
  const run = await findRun(session.api, id)
  const base = `/api/runs/${segment(run.run_id)}/validation`
  if (prompt !== undefined) await sayPrompt(session, `${base}/prompts/${segment(prompt)}`, options)
  else if (step !== undefined) await sayRound(session, `${base}/${Number(step)}`, options)
  else await sayRounds(session, base)
  return exitCode.ok
}

async function sayRounds({ api, terminal, isJson }: Session, base: string): Promise<void> {
  const rounds = await everyPage<ValidationRound>(api, base)
  if (isJson) return terminal.data(toJson(rounds))
  if (rounds.length === 0) return terminal.note('The run has reported no validation samples')
  const number = (of: (round: ValidationRound) => number | string | null) => ({
    cell: (round: ValidationRound) => score(of(round)),
    align: 'right' as const,
  })
  const columns: Column<ValidationRound>[] = [
    { title: 'STEP', cell: round => String(round.step), align: 'right' },
    { title: 'SAMPLES', cell: round => String(round.samples), align: 'right' },
    { title: 'AVG REWARD', ...number(round => round.avg_reward ?? round.reward.mean) },
    { title: 'MIN', ...number(round => round.reward.min), drops: true },
    { title: 'MAX', ...number(round => round.reward.max), drops: true },
    { title: 'ACCURACY', ...number(round => round.accuracy) },
    { title: 'CHUNKS', cell: chunksOf },
  ]
  showTable(terminal, columns, rounds)
}

const score = (value: number | string | null) => (value === null ? '-' : amount(toNumber(value)))

const listedMissing = 5

/** `complete`, or which chunks have not arrived. */
function chunksOf({ complete, received_chunks, total_chunks, missing_chunks }: ValidationRound) {
  if (complete) return 'complete'
  const missing = missing_chunks.slice(0, listedMissing).join(', ')
  const more = total_chunks - received_chunks > listedMissing ? ', …' : ''
  return `${received_chunks} of ${total_chunks}, missing ${missing}${more}`
}

async function sayRound(session: Session, path: string, options: SamplesOptions): Promise<void> {
  const { api, terminal, isJson } = session
  const rows = await readSamples(api, path, { sort: options.sort, limit: Number(options.limit) })
  if (isJson) return terminal.data(toJson(rows))
  const histogram = await api.get<RewardHistogram>(`${path}/histogram`, { bins: 12 })
  if (histogram.samples === 0) return terminal.note('The round has no samples')
  for (const line of histogramLines(histogram, terminal.columns() ?? 100)) terminal.data(line)
  terminal.data('')
  if (options.full) return sayWhole(session, rows)
  showTable(terminal, [...sampleColumns, ...textColumns], rows)
  const left = histogram.samples - rows.length
  if (left > 0) terminal.note(`${left} more; --limit ${histogram.samples} shows all`)
}

function histogramLines({ bins, nonfinite, without_reward }: RewardHistogram, width: number) {
  const rows = bins.map(({ from, to, count }) => ({
    label: from === to ? amount(from) : `${amount(from)} … ${amount(to)}`,
    count,
  }))
  if (nonfinite > 0) rows.push({ label: 'not finite', count: nonfinite })
  if (without_reward > 0) rows.push({ label: 'no reward', count: without_reward })
  return ['REWARD', ...bars(rows, Math.min(width, 100))]
}

async function sayPrompt(session: Session, path: string, options: SamplesOptions): Promise<void> {
  const { api, terminal, isJson } = session
  const rows = await readSamples(api, path, { limit: Number(options.limit) })
  if (isJson) return terminal.data(toJson(rows))
  if (options.full) return sayWhole(session, rows)
  const [first] = rows
  if (first) terminal.data(`${terminal.paint('bold', 'PROMPT')}  ${oneLine(first.user)}`)
  const step = { title: 'STEP', cell: (row: ValidationSample) => String(row.step) }
  showTable(terminal, [{ ...step, align: 'right' }, rewardColumn, answerColumn], rows)
}

const most = 500

/** A page may be shorter than asked, where its samples are very long. */
async function readSamples(
  api: Api,
  path: string,
  { limit, sort }: { limit: number; sort?: string },
): Promise<ValidationSample[]> {
  const rows: ValidationSample[] = []
  while (rows.length < limit) {
    const query = { sort, limit: Math.min(most, limit - rows.length), offset: rows.length }
    const page = await api.get<ValidationSample[]>(path, query)
    if (page.length === 0) break
    rows.push(...page)
  }
  return rows
}

const oneLine = (text: string | null) => (text ?? '-').replaceAll(/\s+/g, ' ')

const rewardColumn: Column<ValidationSample> = {
  title: 'REWARD',
  cell: row => score(row.reward),
  align: 'right',
}
const answerColumn: Column<ValidationSample> = {
  title: 'ANSWER',
  cell: row => oneLine(row.assistant),
  shrinks: true,
}
const sampleColumns: readonly Column<ValidationSample>[] = [
  { title: 'SAMPLE', cell: row => row.sample_id },
  rewardColumn,
]
const textColumns: readonly Column<ValidationSample>[] = [
  { title: 'PROMPT KEY', cell: row => row.sample_key ?? '-', drops: true },
  { title: 'PROMPT', cell: row => oneLine(row.user), shrinks: true },
  answerColumn,
]

function sayWhole({ terminal }: Session, rows: readonly ValidationSample[]): void {
  for (const row of rows) {
    const key = row.sample_key === null ? '' : `  ${row.sample_key}`
    terminal.data(terminal.paint('bold', `${row.sample_id}  reward ${score(row.reward)}${key}`))
    const parts = { user: row.user, assistant: row.assistant, env: row.env, extra: row.extra }
    for (const [name, value] of Object.entries(parts)) {
      if (value === null) continue
      terminal.data(terminal.paint('dim', name))
      terminal.data(typeof value === 'string' ? value : JSON.stringify(value, null, 2))
    }
    terminal.data('')
  }
}
