import { describe } from '../program/describe.ts'
import { list } from '../program/list.ts'
import type { CommonOptions, Texts } from '../program/session.ts'

type Usage = {
  group: string
  gpu_seconds: number
  gpu_hours: string
  cost: string
  currency: string
  runs: number
}

type UsageOptions = CommonOptions & Texts<'from' | 'to'> & { group: string }

export const describeUsage = describe({
  text: 'GPU hours and what they cost: yours and those of your projects',
  options: {
    '-g, --group <by>': {
      text: 'what to sum up by',
      choices: ['user', 'project', 'day'],
      fallback: 'user',
    },
    '--from <day>': 'the first UTC day, e.g. 2026-11-01; 30 days in all by default',
    '--to <day>': 'the last one; today by default',
  },
})

export const usage = list<Usage, UsageOptions>({
  path: '/api/usage',
  filters: ({ group, from, to }) => ({ group, from, to }),
  shown: ({ group }) => ({
    columns: [
      { title: group.toUpperCase(), cell: row => row.group, shrinks: true },
      { title: 'GPU-HOURS', cell: row => row.gpu_hours, align: 'right' },
      { title: 'COST', cell: row => `${row.cost} ${row.currency}`, align: 'right' },
      { title: 'RUNS', cell: row => String(row.runs), align: 'right' },
    ],
    none: 'Nothing was used in these days.',
  }),
})
