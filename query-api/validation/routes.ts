import type { Route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { ValidationTables } from '../../projector/validation/table.ts'
import {
  histogramQuery,
  promptInPath,
  promptQuery,
  rewardHistogram,
  roundInPath,
  roundsQuery,
  samplesQuery,
  validationRound,
  validationSample,
} from '../../schemas/validation.ts'
import { one, pagedList } from '../reading/list.ts'
import { parseSort } from '../reading/page.ts'
import type { Reads } from '../reading/reads.ts'
import { type AccessTables, ofRun } from '../rules/access.ts'
import { countRounds, countSamples, readHistogram, readRounds, readSamples } from './read.ts'

export type Tables = ValidationTables & AccessTables

const of = '/api/runs/{run_id}/validation'
/** The prompt route comes before the round routes, which would match its path as a step. */
export const validationRoutes = (reads: Reads<Tables>): Route[] => [
  roundsRoute(reads),
  promptRoute(reads),
  histogramRoute(reads),
  samplesRoute(reads),
]

const roundsRoute = (reads: Reads<Tables>): Route =>
  pagedList({
    ...ofRun(reads),
    path: of,
    tag: 'validation',
    summary: 'The validation rounds of a run, by step',
    query: roundsQuery,
    row: validationRound,
    async read({ run_id, db }, { query: { step = null } }, page) {
      const rows = await readRounds(db, run_id, { ...page, step })
      return { rows, counted: await countRounds(db, run_id, step) }
    },
  })

const samplesRoute = (reads: Reads<Tables>): Route =>
  pagedList({
    ...ofRun(reads),
    path: `${of}/{step}`,
    tag: 'validation',
    summary: 'The samples of a validation round',
    params: roundInPath,
    query: samplesQuery,
    row: validationSample,
    async read({ run_id, db }, { params: { step }, query }, page) {
      const sort = parseSort(query.sort ?? 'index', ['index', 'reward'])
      await refuseNoRound(db, run_id, step)
      return pageOfSamples(db, run_id, { step }, { ...page, sort })
    },
  })

const promptRoute = (reads: Reads<Tables>): Route =>
  pagedList({
    ...ofRun(reads),
    path: `${of}/prompts/{sample_key}`,
    tag: 'validation',
    summary: 'One prompt through the validation rounds of a run',
    params: promptInPath,
    query: promptQuery,
    row: validationSample,
    async read({ run_id, db }, { params: { sample_key } }, page) {
      const sort = { by: 'step', desc: false } as const
      const found = await pageOfSamples(db, run_id, { sample_key }, { ...page, sort })
      if (found.counted === 0) throw new Refusal('not_found', `No such prompt: ${sample_key}`)
      return found
    },
  })

/** A page of very long samples ends early. */
async function pageOfSamples(...asked: Parameters<typeof readSamples>) {
  const [db, runId, which] = asked
  const rows = await readSamples(...asked)
  return { rows, counted: await countSamples(db, runId, which), mayEndEarly: true }
}

const histogramRoute = (reads: Reads<Tables>): Route =>
  one({
    ...ofRun(reads),
    path: `${of}/{step}/histogram`,
    tag: 'validation',
    summary: 'How the rewards of a validation round are distributed',
    params: roundInPath,
    query: histogramQuery,
    response: rewardHistogram,
    async read({ run_id, db }, { params: { step }, query: { bins = 20 } }) {
      await refuseNoRound(db, run_id, step)
      return readHistogram(db, run_id, { step, bins })
    },
  })

async function refuseNoRound(
  db: Parameters<typeof countRounds>[0],
  runId: string,
  step: number,
): Promise<void> {
  if ((await countRounds(db, runId, step)) === 0)
    throw new Refusal('not_found', `No such validation round: ${step}`)
}
