import { Type } from 'typebox'
import { type Route, route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { ValidationTables } from '../../projector/validation/table.ts'
import { runIdInPath } from '../../schemas/shared.ts'
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
import { type AccessTables, findRun } from '../access.ts'
import { pageHeaders, parseSort } from '../page.ts'
import type { Reads } from '../reads.ts'
import { countRounds, countSamples, readHistogram, readRounds, readSamples } from './read.ts'

type Tables = ValidationTables & AccessTables

const of = '/api/runs/{run_id}/validation'
const common = {
  method: 'GET',
  credential: 'person',
  reach: 'its_people',
  tag: 'validation',
  refusals: ['not_found'],
} as const

/** The path of a prompt comes before those of rounds, which would take it for a step. */
export const validationRoutes = (reads: Reads<Tables>): Route[] => [
  roundsRoute(reads),
  promptRoute(reads),
  histogramRoute(reads),
  samplesRoute(reads),
]

const roundsRoute = (reads: Reads<Tables>): Route =>
  route({
    ...common,
    path: of,
    summary: 'The validation rounds of a run, by step',
    params: runIdInPath,
    query: roundsQuery,
    response: Type.Array(validationRound),
    async handle({ caller, params, query, ctx }) {
      const { run_id, db } = await findRun(reads, caller, params.run_id)
      const { limit = 50, offset = 0, step = null } = query
      const rows = await readRounds(db, run_id, { limit, offset, step })
      pageHeaders(ctx, { limit, offset, shown: rows.length }, await countRounds(db, run_id, step))
      return rows
    },
  })

const samplesRoute = (reads: Reads<Tables>): Route =>
  route({
    ...common,
    path: `${of}/{step}`,
    summary: 'The samples of a validation round',
    params: roundInPath,
    query: samplesQuery,
    response: Type.Array(validationSample),
    async handle({ caller, params, query, ctx }) {
      const { run_id, db } = await findRun(reads, caller, params.run_id)
      const { limit = 50, offset = 0 } = query
      const sort = parseSort(query.sort ?? 'index', ['index', 'reward'])
      const { step } = params
      await refuseNoRound(db, run_id, step)
      const rows = await readSamples(db, run_id, { step }, { limit, offset, sort })
      const counted = await countSamples(db, run_id, { step })
      // A page of very long samples ends early.
      pageHeaders(ctx, { limit, offset, shown: rows.length, mayEndEarly: true }, counted)
      return rows
    },
  })

const promptRoute = (reads: Reads<Tables>): Route =>
  route({
    ...common,
    path: `${of}/prompts/{sample_key}`,
    summary: 'One prompt through the validation rounds of a run',
    params: promptInPath,
    query: promptQuery,
    response: Type.Array(validationSample),
    async handle({ caller, params, query, ctx }) {
      const { run_id, db } = await findRun(reads, caller, params.run_id)
      const { sample_key } = params
      const { limit = 50, offset = 0 } = query
      const sort = { by: 'step', desc: false } as const
      const rows = await readSamples(db, run_id, { sample_key }, { limit, offset, sort })
      const counted = await countSamples(db, run_id, { sample_key })
      if (counted === 0) throw new Refusal('not_found', `No such prompt: ${sample_key}`)
      pageHeaders(ctx, { limit, offset, shown: rows.length, mayEndEarly: true }, counted)
      return rows
    },
  })

const histogramRoute = (reads: Reads<Tables>): Route =>
  route({
    ...common,
    path: `${of}/{step}/histogram`,
    summary: 'How the rewards of a validation round are distributed',
    params: roundInPath,
    query: histogramQuery,
    response: rewardHistogram,
    async handle({ caller, params, query }) {
      const { run_id, db } = await findRun(reads, caller, params.run_id)
      await refuseNoRound(db, run_id, params.step)
      return readHistogram(db, run_id, { step: params.step, bins: query.bins ?? 20 })
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
