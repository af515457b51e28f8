import { type Static, Type } from 'typebox'
import { nullable } from '../schemas/shared.ts'
import { aggregate, type EventOf, event } from './event.ts'
import { count } from './words.ts'

/** MLflow's tags of a run; Forge's own tags are words without a value. */
export const tagsSet = event(
  'mlflow.tags_set',
  Type.Object({ run_id: Type.String(), tags: Type.Record(Type.String(), Type.String()) }),
  ({ run_id, tags }, who) =>
    `${who} set ${count(Object.keys(tags).length, 'MLflow tag')} of run ${run_id}`,
)

export const tagDeleted = event(
  'mlflow.tag_deleted',
  Type.Object({ run_id: Type.String(), key: Type.String() }),
  ({ run_id, key }, who) => `${who} deleted the MLflow tag ${key} of run ${run_id}`,
)

/** The run's status according to an MLflow client. Only the lifecycle determines the run's state in Forge. */
export const statusReported = event(
  'mlflow.status_reported',
  Type.Object({
    run_id: Type.String(),
    status: Type.String(),
    end_time_ms: nullable(Type.Integer()),
  }),
  ({ run_id, status }, who) => `${who} set the MLflow status of ${run_id} to ${status}`,
)

/** A data set that the run read. */
const input = Type.Object({
  name: Type.String(),
  digest: Type.String(),
  source_type: Type.String(),
  source: Type.String(),
  schema: nullable(Type.String()),
  profile: nullable(Type.String()),
  tags: Type.Record(Type.String(), Type.String()),
})
export type MlflowInput = Static<typeof input>

export const inputsLogged = event(
  'mlflow.inputs_logged',
  Type.Object({ run_id: Type.String(), inputs: Type.Array(input) }),
  ({ run_id, inputs }, who) =>
    `${who} recorded ${count(inputs.length, 'data set')} that run ${run_id} read`,
)

/** MLflow's tag of an experiment. Its stream is named after the project, whose name never looks like a run's. */
export const experimentTagged = event(
  'mlflow.experiment_tagged',
  Type.Object({ project: Type.String(), key: Type.String(), value: Type.String() }),
  ({ project, key }, who) => `${who} set the MLflow tag ${key} of project ${project}`,
)

const events = [tagsSet, tagDeleted, statusReported, inputsLogged, experimentTagged] as const
export type MlflowEvent = EventOf<(typeof events)[number]>

export type MlflowRun = {
  /** Look one up with `Object.hasOwn`, because a key may be called `constructor`. */
  tags: Readonly<Record<string, string>>
  status: string | null
  end_time_ms: number | null
  /** Names and digests of its data sets, each pair as JSON. */
  inputs: readonly string[]
}
const initial: MlflowRun = { tags: {}, status: null, end_time_ms: null, inputs: [] }

export const inputKey = ({ name, digest }: Pick<MlflowInput, 'name' | 'digest'>): string =>
  JSON.stringify([name, digest])

function evolve(run: MlflowRun, event: MlflowEvent): MlflowRun {
  switch (event.type) {
    case 'mlflow.tags_set':
      return { ...run, tags: { ...run.tags, ...event.data.tags } }
    case 'mlflow.experiment_tagged':
      return { ...run, tags: { ...run.tags, [event.data.key]: event.data.value } }
    case 'mlflow.tag_deleted': {
      const { [event.data.key]: _, ...tags } = run.tags
      return { ...run, tags }
    }
    case 'mlflow.status_reported':
      return { ...run, status: event.data.status, end_time_ms: event.data.end_time_ms }
    case 'mlflow.inputs_logged':
      return { ...run, inputs: [...run.inputs, ...event.data.inputs.map(inputKey)] }
  }
}

export const mlflowRuns = aggregate('mlflow', { events, initial, evolve, snapshot: { shape: 1 } })
/** Data of a run that only MLflow's clients report; its parameters and metrics are stored like all others. */
export const mlflowAt = (runId: string) => mlflowRuns.at(runId)
export const experimentAt = (project: string) => mlflowRuns.at(project)
