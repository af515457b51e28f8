import { type Route, route } from '../../auth/route.ts'
import { mlflowAt } from '../../events/mlflow.ts'
import {
  batchInput,
  experimentCreated,
  experimentInput,
  experimentTagInput,
  type Facade,
  facades,
  inputsInput,
  metricInput,
  mlflowLimits,
  mlflowRunInput,
  mlflowRunUpdate,
  noteTag,
  nothing,
  paramInput,
  runAnswer,
  runInfoAnswer,
  tagDeletion,
  tagInput,
} from '../../schemas/mlflow.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { artifactRoute } from './artifacts.ts'
import { deleteTag, logInputs } from './decide.ts'
import { createExperiment, setExperimentTag } from './experiments.ts'
import { report } from './report.ts'
import { createRun, updateRun } from './runs.ts'
import { admit, describeByTags, type MlflowPorts } from './target.ts'

/** The routes to which MLflow's clients write (docs/use/mlflow.md): one set for running code, one for people. */
export const mlflowRoutes = (deps: Deps, ports: MlflowPorts): Route[] =>
  facades.flatMap(facade => [
    ...runRoutes(deps, ports, facade),
    ...reportRoutes(deps, ports, facade),
    ...tagRoutes(deps, ports, facade),
    ...experimentRoutes(deps, ports, facade),
    artifactRoute(deps, ports, facade),
  ])

const under = ({ mount, credential }: Facade, path: string) => ({
  method: 'POST' as const,
  path: `${mount}/api/2.0/mlflow/${path}`,
  credential,
  tag: 'mlflow',
})
/** Only the owner of a run may report to it. */
const ofOwner = (facade: Facade, path: string) => ({
  ...under(facade, path),
  ...(facade.credential === 'person' && { reach: 'its_owner' as const }),
  refusals: ['invalid', 'forbidden', 'not_found', 'conflict', 'too_large'] as const,
  bodyLimitBytes: mlflowLimits.bodyBytes,
})

const experimentRoutes = (deps: Deps, ports: MlflowPorts, facade: Facade): Route[] => [
  route({
    ...under(facade, 'experiments/create'),
    summary:
      facade.credential === 'person'
        ? 'MLflow: create a project'
        : 'MLflow: create an experiment, which is always the project of the run',
    body: experimentInput,
    response: experimentCreated,
    refusals: ['invalid', 'forbidden', 'conflict'],
    handle: request => createExperiment(deps, ports, request),
  }),
  route({
    ...under(facade, 'experiments/set-experiment-tag'),
    ...(facade.credential === 'person' && { reach: 'its_people' as const }),
    summary:
      facade.credential === 'person'
        ? 'MLflow: set a tag of a project'
        : 'MLflow: set a tag of the experiment, which is kept with the run',
    body: experimentTagInput,
    response: nothing,
    refusals: ['invalid', 'forbidden', 'not_found', 'conflict'],
    handle: request => setExperimentTag(deps, ports, request),
  }),
]

const runRoutes = (deps: Deps, ports: MlflowPorts, facade: Facade): Route[] => [
  route({
    ...under(facade, 'runs/create'),
    ...(facade.credential === 'person' && { reach: 'taken' as const }),
    summary:
      facade.credential === 'person'
        ? 'MLflow: begin a run in a project'
        : 'MLflow: begin a run, which is always that of the token',
    body: mlflowRunInput,
    response: runAnswer,
    refusals: ['invalid', 'forbidden', 'conflict'],
    handle: request => createRun(deps, ports, request),
  }),
  route({
    ...ofOwner(facade, 'runs/update'),
    summary: 'MLflow: change the status or the name of a run',
    body: mlflowRunUpdate,
    response: runInfoAnswer,
    handle: request => updateRun(deps, ports, request),
  }),
]

const reportRoutes = (deps: Deps, ports: MlflowPorts, facade: Facade): Route[] => [
  route({
    ...ofOwner(facade, 'runs/log-metric'),
    summary: 'MLflow: report a metric',
    body: metricInput,
    bareNonFinite: true,
    response: nothing,
    handle: request => {
      const { run_id, ...metric } = request.body
      return report(deps, ports, request, { run_id, metrics: [metric] })
    },
  }),
  route({
    ...ofOwner(facade, 'runs/log-parameter'),
    summary: 'MLflow: report a parameter, once',
    body: paramInput,
    response: nothing,
    handle: request => {
      const { run_id, ...param } = request.body
      return report(deps, ports, request, { run_id, params: [param] })
    },
  }),
  route({
    ...ofOwner(facade, 'runs/log-batch'),
    summary: 'MLflow: report metrics, parameters and tags',
    body: batchInput,
    bareNonFinite: true,
    keysMayRepeat: true,
    response: nothing,
    handle: request => report(deps, ports, request, request.body),
  }),
  route({
    ...ofOwner(facade, 'runs/log-inputs'),
    summary: 'MLflow: name the data sets that a run reads',
    body: inputsInput,
    response: nothing,
    async handle(request) {
      const { datasets = [] } = request.body
      const { run_id } = await admit(deps, ports, request, request.body.run_id)
      const inputs = datasets.map(({ tags = [], dataset }) => ({
        ...dataset,
        schema: dataset.schema ?? null,
        profile: dataset.profile ?? null,
        tags: Object.fromEntries(tags.map(({ key, value }) => [key, value])),
      }))
      await commit(deps, request, mlflowAt(run_id), {
        decide: run => logInputs(run, run_id, inputs),
      })
      return {}
    },
  }),
]

const tagRoutes = (deps: Deps, ports: MlflowPorts, facade: Facade): Route[] => [
  route({
    ...ofOwner(facade, 'runs/set-tag'),
    summary: 'MLflow: set a tag of a run',
    body: tagInput,
    response: nothing,
    handle: request => {
      const { run_id, ...tag } = request.body
      return report(deps, ports, request, { run_id, tags: [tag] })
    },
  }),
  route({
    ...ofOwner(facade, 'runs/delete-tag'),
    summary: 'MLflow: delete a tag of a run',
    body: tagDeletion,
    response: nothing,
    async handle(request) {
      const { key } = request.body
      const { run_id, run } = await admit(deps, ports, request, request.body.run_id)
      await commit(deps, request, mlflowAt(run_id), {
        decide: current => deleteTag(current, run_id, key),
      })
      if (key === noteTag)
        await describeByTags(ports, request, { run_id, source: run.source }, [{ key, value: '' }])
      return {}
    },
  }),
]
