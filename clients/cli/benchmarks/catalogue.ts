import type {
  BenchmarkRecord,
  DefinitionInput,
  HistoryRow,
  LeaderboardRow,
} from '../../../schemas/benchmarks/catalogue.ts'
import { segment } from '../api/client.ts'
import { describe } from '../program/describe.ts'
import { usageFailure } from '../program/failure.ts'
import { list } from '../program/list.ts'
import { request } from '../program/request.ts'
import type { CommonOptions, Flags, Texts } from '../program/session.ts'
import { withError } from '../runs/benchmarks.ts'

const path = '/api/benchmarks'

export const describeBenchList = describe({
  text: 'the benchmarks of the catalogue',
  options: { '-q, --search <text>': 'part of the name' },
})

export const benchList = list<BenchmarkRecord, CommonOptions & Texts<'search'>>({
  path,
  filters: ({ search }) => ({ q: search }),
  shown: {
    columns: [
      { title: 'BENCHMARK', cell: row => `${row.name}@${row.version}` },
      { title: 'METRIC', cell: row => row.metric, shrinks: true },
      { title: 'BETTER', cell: row => (row.higher_is_better ? 'higher' : 'lower') },
      { title: 'TASK', cell: row => row.task ?? '-', drops: true },
      { title: 'SPLIT', cell: row => row.split ?? '-', drops: true },
      { title: 'DATASET', cell: row => row.dataset ?? '-', drops: true },
      { title: 'OWNER', cell: row => row.owner },
    ],
    none: 'No benchmark is defined. Define one: forge bench define gsm8k --metric exact_match',
  },
})

export const describeBenchBoard = describe({
  text: 'the leaderboard of a benchmark: the best score of each run that you may read',
  operands: { '<benchmark>': 'its name, or name@version' },
  options: {
    '-p, --project <name>': 'only runs of a project',
    '-a, --all': 'every result, not only the best of each run',
    '-l, --limit <count>': ['at most this many', '20'],
  },
})

type BoardOptions = CommonOptions & Texts<'project'> & Flags<'all'> & { limit: string }

export const benchBoard = list<LeaderboardRow, BoardOptions>({
  path: (_, ref = '') => `${path}/${segment(parted(ref).name)}/leaderboard`,
  filters: ({ project, all, limit }, _, ref = '') => ({
    ...{ project, limit },
    ...(all && { each: 'result' }),
    version: parted(ref).version,
  }),
  shown: {
    columns: [
      { title: 'RANK', cell: row => String(row.rank), align: 'right' },
      { title: 'RUN', cell: row => row.short_id },
      { title: 'NAME', cell: row => row.run_name, shrinks: true },
      { title: 'SCORE', cell: withError, align: 'right' },
      { title: 'N', cell: row => String(row.n ?? '-'), align: 'right' },
      { title: 'STEP', cell: row => String(row.step ?? '-'), align: 'right' },
      { title: 'MODEL', cell: row => row.model ?? '-', drops: true },
      { title: 'RECORDED', cell: row => row.recorded_at, drops: true },
    ],
    none: 'No run has reported a score in this benchmark',
  },
})

export const describeBenchHistory = describe({
  text: 'the scores in a benchmark as they were recorded, newest first',
  operands: { '<benchmark>': 'its name, or name@version' },
  options: {
    '-p, --project <name>': 'only runs of a project',
    '-l, --limit <count>': ['at most this many', '20'],
  },
})

export const benchHistory = list<HistoryRow, CommonOptions & Texts<'project'> & { limit: string }>({
  path: (_, ref = '') => `${path}/${segment(parted(ref).name)}/history`,
  filters: ({ project, limit }, _, ref = '') => ({ project, limit, version: parted(ref).version }),
  shown: {
    columns: [
      { title: 'RECORDED', cell: row => row.recorded_at.slice(0, 19).replace('T', ' ') },
      { title: 'RUN', cell: row => row.short_id },
      { title: 'RECIPE', cell: row => row.recipe ?? '-', shrinks: true },
      { title: 'MODEL', cell: row => row.model ?? '-', shrinks: true, drops: true },
      { title: 'SCORE', cell: withError, align: 'right' },
      { title: 'N', cell: row => String(row.n ?? '-'), align: 'right', drops: true },
      { title: 'STEP', cell: row => String(row.step ?? '-'), align: 'right' },
      { title: '', cell: row => (row.is_current ? '' : 'replaced') },
    ],
    none: 'No run has reported a score in this benchmark',
  },
})

function parted(ref: string): { name: string; version: string | undefined } {
  const [, name, version] = /^([^@]+)(?:@([1-9]\d{0,5}))?$/.exec(ref) ?? []
  if (name === undefined) throw usageFailure(`${ref} names no benchmark; write name or name@2`)
  return { name, version }
}

export const describeBenchDefine = describe({
  text: 'define a benchmark, or its next version if something differs',
  operands: { '<name>': 'as runs report it' },
  options: {
    '-m, --metric <name>': 'the score that orders the leaderboard (required)',
    '--lower-is-better': 'the smallest score is the best',
    '--task <name>': 'only results of this task',
    '--split <name>': 'only results of this split',
    '--dataset <ref>': 'what it measures on',
    '--harness <name[@version]>': 'the program that measures',
    '-d, --description <text>': 'what it measures, in words',
  },
  after: `
Examples:
  forge bench define gsm8k --metric exact_match --split test --harness lm-eval@0.4.9
  forge bench board gsm8k`,
})

type DefineOptions = CommonOptions &
  Texts<'metric' | 'task' | 'split' | 'dataset' | 'harness' | 'description'> &
  Flags<'lowerIsBetter'>
type Defined = { ref: string; changed: boolean }

export const benchDefine = request<Defined, DefineOptions>({
  send: ({ api }, options, name) =>
    api.put<Defined>(`${path}/${segment(name)}`, toDefinition(options)),
  note: ({ ref, changed }) => (changed ? `Defined ${ref}` : `${ref} says the same already`),
})

function toDefinition({
  metric,
  harness,
  lowerIsBetter,
  ...texts
}: DefineOptions): DefinitionInput {
  if (metric === undefined)
    throw usageFailure('Give --metric, the score that orders the leaderboard')
  const { task = null, split = null, dataset = null, description = '' } = texts
  const [program, version = null] = harness?.split('@') ?? []
  return {
    ...{ metric, task, split, dataset, description },
    higher_is_better: !lowerIsBetter,
    harness: program ? { name: program, version } : null,
  }
}
