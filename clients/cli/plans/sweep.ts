import type { Static } from 'typebox'
import type { PlanCreated, planSubmitted, SweepParam } from '../../../schemas/plans.ts'
import {
  explained,
  readWritten,
  type SpecOptions,
  specOf,
  specOptions,
} from '../jobs/spec/source.ts'
import { describe, repeated, wholeNumber } from '../program/describe.ts'
import { usageFailure } from '../program/failure.ts'
import { request } from '../program/request.ts'
import type { CommonOptions, Flags, Texts } from '../program/session.ts'
import { counted } from '../terminal/amounts.ts'
import { notesOnPlan, path } from './plans.ts'

type Options = CommonOptions &
  SpecOptions &
  Flags<'save'> &
  Texts<'metric'> & {
    grid: readonly string[]
    random: readonly string[]
    count?: number
    seed: number
    parallel: number
    earlyStop?: number
  }

export const describeSweep = describe({
  text: 'run a job with many values of its parameters: every combination, or random ones',
  options: {
    ...specOptions,
    '--grid <key=values>': repeated('values of a parameter, separated by commas; may be repeated'),
    '--random <key=range>': repeated(
      'draw a parameter from FROM..TO, with :log by its logarithm, :int as a whole number',
    ),
    '--count <n>': wholeNumber('runs of a random sweep'),
    '--seed <n>': wholeNumber('of a random sweep; the same seed draws the same values', 0),
    '--parallel <n>': wholeNumber('runs at the same time', 4),
    '-m, --metric <key:goal>': 'decides which run is the best, such as loss:min',
    '--early-stop <step>': wholeNumber('stop runs worse than the median, from this step on'),
    '--save': 'make the plan, but do not submit it',
  },
  after: `
Examples:
  forge sweep -f job.yaml --grid lr=0.1,0.01 --grid batch=32,64 --metric loss:min
  forge sweep -f job.yaml --random lr=1e-5..1e-1:log --count 20 --metric loss:min --early-stop 100`,
})

type Submitted = Static<typeof planSubmitted>
type Reply = PlanCreated & Partial<Pick<Submitted, 'submitted_run_ids'>>

export const sweep = request<Reply, Options>({
  async send(session, options) {
    const { api } = session
    const written = await readWritten(session.process, options)
    const spec = await specOf(api, written?.tree ?? null, options)
    const stages = [{ name: 'sweep', spec, sweep: sweepOf(options) }]
    const made = await api
      .post<PlanCreated>(path, { stages }, { creates: true })
      .catch(async error => {
        throw await explained(api, { spec, written, options }, error)
      })
    if (options.save) return made
    const submitted = await api.post<Submitted>(`${path}/${made.plan_id}/submit`, {})
    return { ...made, ...submitted }
  },
  data: ({ plan_id }) => plan_id,
  note: ({ submitted_run_ids: runs, ...plan }) =>
    runs
      ? [`${counted(runs.length, 'run')} will start`, `forge plan show ${plan.plan_id}`]
      : notesOnPlan(plan),
})

function sweepOf({ grid, random, count, seed, parallel, metric, earlyStop }: Options) {
  if (grid.length + random.length === 0)
    throw usageFailure('Give --grid or --random, for at least one parameter')
  const isRandom = random.length > 0 || count !== undefined
  const params = Object.fromEntries([
    ...grid.map(text => named(text, '--grid', valuesIn)),
    ...random.map(text => named(text, '--random', rangeIn)),
  ])
  return {
    ...{ method: isRandom ? 'random' : 'grid', params, seed, max_parallel: parallel },
    ...(isRandom && count !== undefined && { count }),
    ...(metric !== undefined && { metric: metricIn(metric) }),
    ...(earlyStop !== undefined && { early_stop: { min_step: earlyStop } }),
  }
}

function named(text: string, option: string, read: (word: string) => SweepParam | null) {
  const [, key = '', word = ''] = /^([^=]+)=(.+)$/s.exec(text) ?? []
  const param = key === '' ? null : read(word)
  if (!param) throw usageFailure(`${option} ${text}: KEY=VALUES is expected`)
  return [key, param] as const
}

const valuesIn = (word: string): SweepParam => ({ values: word.split(',').map(valueIn) })

/** JSON where it is JSON; otherwise a text. */
function valueIn(word: string): unknown {
  try {
    return JSON.parse(word)
  } catch {
    return word
  }
}

function rangeIn(word: string): SweepParam | null {
  const [range = '', ...kinds] = word.split(':')
  const [min, max] = range.split('..').map(Number)
  if (min === undefined || max === undefined || Number.isNaN(min) || Number.isNaN(max)) return null
  if (kinds.some(kind => kind !== 'log' && kind !== 'int')) return null
  return {
    ...{ min, max },
    ...(kinds.includes('log') && { scale: 'log' }),
    ...(kinds.includes('int') && { integer: true }),
  }
}

function metricIn(text: string) {
  const [, key, goal] = /^(.+):(min|max)$/s.exec(text) ?? []
  if (key === undefined) throw usageFailure(`--metric ${text}: KEY:min or KEY:max is expected`)
  return { key, goal }
}
