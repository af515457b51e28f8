import { describe } from '../program/describe.ts'
import { list } from '../program/list.ts'
import { type BenchmarkDelta, deltasText, oneDeployment, pathOfNamed } from './find.ts'

type Promotion = {
  at: string
  kind: 'promoted' | 'rolled_back'
  number: number
  actor: string
  reason: string
  diff: { field: string; from: unknown; to: unknown }[]
  benchmarks: BenchmarkDelta[]
  overridden: string[]
}

export const describeDeployHistory = describe({
  text: 'who promoted which revision when and why, and what differed',
  operands: oneDeployment,
})

export const deployHistory = list<Promotion>({
  path: (api, named) => pathOfNamed(api, named, '/promotions'),
  shown: {
    columns: [
      { title: 'WHEN', cell: ({ at }) => at.slice(0, 19).replace('T', ' ') },
      { title: 'REV', cell: row => String(row.number), align: 'right' },
      { title: 'HOW', cell: ({ kind }) => kind.replace('_', ' ') },
      { title: 'BY', cell: row => row.actor, shrinks: true },
      { title: 'REASON', cell: row => row.reason, shrinks: true },
      {
        title: 'CHANGED',
        cell: row => row.diff.map(({ field }) => field).join(', '),
        shrinks: true,
      },
      { title: 'BENCHMARKS', cell: row => deltasText(row.benchmarks), shrinks: true, drops: true },
      { title: 'OVERRODE', cell: row => row.overridden.join('; '), shrinks: true, drops: true },
    ],
    none: 'No revision was promoted yet',
    isJsonByLine: true,
  },
})
