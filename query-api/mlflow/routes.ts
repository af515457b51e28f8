import { type Route, route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import { toJsonNumber } from '../../platform/series/json-number.ts'
import { at } from '../../platform/series/varint.ts'
import {
  experimentAnswer,
  experimentId,
  experimentList,
  experimentName,
  experimentSearch,
  experimentsAnswer,
  type Facade,
  facades,
  historyAnswer,
  historyQuery,
  mlflowRunId,
  mlflowRunSearch,
  modelsAnswer,
  nothing,
  runAnswer,
  runsAnswer,
} from '../../schemas/mlflow.ts'
import { artifactRoutes } from './artifacts.ts'
import { findExperiment, searchExperiments } from './experiments.ts'
import { readRuns } from './runs.ts'
import { type MlflowReads, runInScope } from './scope.ts'
import { searchRuns } from './search.ts'

/** The reads of MLflow's clients (docs/use/mlflow.md), declared once for running code and once for people. */
export const mlflowRoutes = (reads: MlflowReads): Route[] =>
  facades.flatMap(facade => [
    ...experimentRoutes(reads, facade),
    ...searchRoutes(reads, facade),
    ...runRoutes(reads, facade),
    ...artifactRoutes(reads, facade),
  ])

const under = ({ mount, credential }: Facade, path: string) => ({
  path: `${mount}/api/2.0/mlflow/${path}`,
  credential,
  tag: 'mlflow',
})
const ofPeople = (facade: Facade, path: string) => ({
  ...under(facade, path),
  method: 'GET' as const,
  ...(facade.credential === 'person' && { reach: 'its_people' as const }),
  readsOwnWrites: true,
  refusals: ['forbidden', 'not_found'] as const,
})

const experimentRoutes = (reads: MlflowReads, facade: Facade): Route[] => [
  route({
    ...ofPeople(facade, 'experiments/get-by-name'),
    summary: 'MLflow: a project by its name',
    query: experimentName,
    response: experimentAnswer,
    handle: async ({ caller, query }) => ({
      experiment: await findExperiment(reads, caller, query.experiment_name),
    }),
  }),
  route({
    ...ofPeople(facade, 'experiments/get'),
    summary: 'MLflow: a project by its id, which is its name',
    query: experimentId,
    response: experimentAnswer,
    handle: async ({ caller, query }) => ({
      experiment: await findExperiment(reads, caller, query.experiment_id),
    }),
  }),
]

/** Reads, although MLflow sends them as `POST`: a proxy in front must know (docs/operate/several-servers.md). */
const searchRoutes = (reads: MlflowReads, facade: Facade): Route[] => [
  route({
    ...under(facade, 'runs/search'),
    method: 'POST',
    readsOwnWrites: true,
    summary: 'MLflow: search runs, by filter and in an order',
    body: mlflowRunSearch,
    response: runsAnswer,
    refusals: ['invalid'],
    handle: ({ caller, body }) => searchRuns(reads, caller, body),
  }),
  route({
    ...under(facade, 'experiments/search'),
    method: 'POST',
    readsOwnWrites: true,
    summary: 'MLflow: list projects',
    body: experimentSearch,
    response: experimentsAnswer,
    refusals: ['invalid'],
    handle: ({ caller, body }) => searchExperiments(reads, caller, body),
  }),
  // Clients of version 3 look here for more artifacts of a run.
  route({
    ...under(facade, 'logged-models/search'),
    method: 'POST',
    summary: "MLflow: list models of MLflow's own kind, of which Forge keeps none",
    body: nothing,
    response: modelsAnswer,
    handle: async () => ({ models: [] }),
  }),
  route({
    ...under(facade, 'experiments/search'),
    method: 'GET',
    readsOwnWrites: true,
    summary: 'MLflow: list projects',
    query: experimentList,
    response: experimentsAnswer,
    refusals: ['invalid'],
    handle: ({ caller, query }) => searchExperiments(reads, caller, query),
  }),
]

const runRoutes = (reads: MlflowReads, facade: Facade): Route[] => [
  route({
    ...ofPeople(facade, 'runs/get'),
    summary: 'MLflow: a run with its parameters, tags and newest metrics',
    query: mlflowRunId,
    response: runAnswer,
    async handle({ caller, query }) {
      const { db, run_id } = await runInScope(reads, caller, query.run_id)
      const [run] = await readRuns(db, [run_id])
      if (!run) throw new Refusal('not_found', `No such run: ${query.run_id}`)
      return { run }
    },
  }),
  route({
    ...ofPeople(facade, 'metrics/get-history'),
    summary: 'MLflow: the points of a metric, by step',
    query: historyQuery,
    response: historyAnswer,
    async handle({ caller, query }) {
      const { db, run_id } = await runInScope(reads, caller, query.run_id)
      return historyPage(reads, db, { ...query, run_id })
    },
  }),
]

type History = {
  run_id: string
  metric_key: string
  max_results?: string
  page_token?: string
}

const maxPoints = 25_000

/** A page token is the last step of the previous page. */
async function historyPage(
  { readHistory }: MlflowReads,
  db: Parameters<MlflowReads['readHistory']>[0],
  { run_id, metric_key: key, max_results, page_token }: History,
) {
  const wanted = Math.min(Number(max_results ?? maxPoints) || maxPoints, maxPoints)
  const metrics = []
  let after = page_token ? stepOf(page_token) : Number.NEGATIVE_INFINITY
  while (after < Number.POSITIVE_INFINITY && metrics.length < wanted) {
    const { series, end } = await readHistory(db, run_id, key, after)
    for (let i = 0; i < series.steps.length && metrics.length < wanted; i++) {
      const step = at(series.steps, i)
      metrics.push({
        key,
        value: toJsonNumber(at(series.values, i)),
        timestamp: at(series.ts, i),
        step,
      })
    }
    after = metrics.length < wanted ? end : (metrics.at(-1)?.step ?? end)
  }
  return { metrics, ...(after < Number.POSITIVE_INFINITY && { next_page_token: String(after) }) }
}

function stepOf(token: string): number {
  const step = Number(token)
  if (!Number.isSafeInteger(step)) throw new Refusal('invalid', `Invalid page token: ${token}`)
  return step
}
