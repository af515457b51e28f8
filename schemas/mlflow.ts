import { type Static, Type } from 'typebox'
import { metricValue } from './metrics/metrics.ts'
import { projectNameOf } from './runs/runs.ts'
import { namePattern, nameText, printable } from './shared.ts'

/** MLflow's limits (`mlflow/utils/validation.py`). */
export const mlflowLimits = {
  metrics: 1000,
  params: 100,
  tags: 100,
  inAll: 1000,
  bodyBytes: 1_000_000,
  key: 250,
  param: 6000,
  tag: 8000,
} as const

// MLflow's clients send more fields than these, and newer ones will add others, so no object refuses unknown keys.

/** MLflow's own tags say what its clients and its page need; all others are labels of the run. */
export const isLabel = (key: string): boolean => !key.startsWith('mlflow.')
/** The tag with the name of a run. */
export const runNameTag = 'mlflow.runName'
/** The tag that MLflow shows as the description of a run. */
export const noteTag = 'mlflow.note.content'

/** The tag of a project with the name that MLflow's clients gave it, if that is not the project's own. */
export const experimentNameTag = 'forge.experiment_name'

/**
 * The project of an MLflow experiment: its own name where projects may have it, otherwise in lower case with dashes. Texts
 * in other scripts, of which little would be left, end with a checksum.
 */
export function projectOfExperiment(name: string): string {
  const plain = projectNameOf(name)
  if (![...name].some(char => char > '\u007f')) return plain
  return `${plain.slice(0, 50) || 'experiment'}-${checksum(name)}`
}

/** FNV-1a. */
const checksum = (text: string): string =>
  [...text]
    .reduce(
      (sum, char) => Math.imul(sum ^ (char.codePointAt(0) ?? 0), 16_777_619) >>> 0,
      2_166_136_261,
    )
    .toString(36)

/** Protobuf's JSON encodes 64-bit numbers as text. */
const int64 = () => Type.Union([Type.Integer(), Type.String({ pattern: '^-?[0-9]{1,16}$' })])
const runId = () => Type.String({ minLength: 1, maxLength: 128 })
const key = () => nameText(mlflowLimits.key)
const name = () => Type.String({ minLength: 1, maxLength: 500 })
const pageToken = () => Type.Optional(Type.String({ maxLength: 1000 }))

/** A number, or its text as protobuf writes it, because JSON has no non-finite numbers. */
const metric = {
  key: key(),
  value: metricValue(),
  timestamp: Type.Optional(int64()),
  step: Type.Optional(int64()),
}
const param = { key: key(), value: Type.String({ maxLength: mlflowLimits.param }) }
const tag = { key: key(), value: Type.String({ maxLength: mlflowLimits.tag }) }
const tags = () => Type.Optional(Type.Array(Type.Object(tag), { maxItems: mlflowLimits.tags }))
export type MlflowMetric = Static<ReturnType<typeof metricObject>>
const metricObject = () => Type.Object(metric)

export const mlflowStatuses = ['RUNNING', 'SCHEDULED', 'FINISHED', 'FAILED', 'KILLED'] as const
export type MlflowStatus = (typeof mlflowStatuses)[number]

export const experimentName = Type.Object({ experiment_name: name() })
export const experimentId = Type.Object({ experiment_id: name() })
export const experimentInput = Type.Object({ name: nameText(500) })
export const experimentTagInput = Type.Object({ experiment_id: name(), ...tag })
const searchPage = {
  max_results: Type.Optional(int64()),
  page_token: pageToken(),
  filter: Type.Optional(Type.String({ maxLength: 4000 })),
  order_by: Type.Optional(Type.Array(Type.String({ maxLength: 600 }), { maxItems: 10 })),
}
export const experimentSearch = Type.Object(searchPage)
export const experimentList = Type.Object({
  max_results: Type.Optional(Type.String({ pattern: '^[0-9]{1,9}$' })),
  page_token: pageToken(),
})

export const mlflowRunInput = Type.Object({
  experiment_id: Type.String({ maxLength: 500 }),
  run_name: Type.Optional(Type.String({ maxLength: 256, pattern: namePattern })),
  start_time: Type.Optional(int64()),
  tags: tags(),
})
export type MlflowRunInput = Static<typeof mlflowRunInput>

export const mlflowRunId = Type.Object({ run_id: runId() })
export const mlflowRunUpdate = Type.Object({
  run_id: runId(),
  status: Type.Optional(Type.Enum([...mlflowStatuses])),
  end_time: Type.Optional(int64()),
  run_name: Type.Optional(Type.String({ maxLength: 256, pattern: namePattern })),
})
export const metricInput = Type.Object({ run_id: runId(), ...metric })
export const paramInput = Type.Object({ run_id: runId(), ...param })
export const tagInput = Type.Object({ run_id: runId(), ...tag })
export const tagDeletion = Type.Object({ run_id: runId(), key: key() })
export const batchInput = Type.Object({
  run_id: runId(),
  metrics: Type.Optional(Type.Array(metricObject(), { maxItems: mlflowLimits.metrics })),
  params: Type.Optional(Type.Array(Type.Object(param), { maxItems: mlflowLimits.params })),
  tags: tags(),
})
export const inputsInput = Type.Object({
  run_id: runId(),
  datasets: Type.Optional(
    Type.Array(
      Type.Object({
        tags: tags(),
        dataset: Type.Object({
          name: nameText(500),
          digest: Type.String({ minLength: 1, maxLength: 36 }),
          source_type: Type.String({ maxLength: 500 }),
          source: Type.String({ maxLength: 65_535 }),
          schema: Type.Optional(Type.String({ maxLength: 65_535 })),
          profile: Type.Optional(Type.String({ maxLength: 65_535 })),
        }),
      }),
      { maxItems: 100 },
    ),
  ),
})

export const mlflowRunSearch = Type.Object({
  experiment_ids: Type.Optional(Type.Array(Type.String({ maxLength: 500 }), { maxItems: 100 })),
  run_view_type: Type.Optional(Type.String({ maxLength: 32 })),
  ...searchPage,
})
export type MlflowRunSearch = Static<typeof mlflowRunSearch>

export const historyQuery = Type.Object({
  run_id: runId(),
  metric_key: key(),
  max_results: Type.Optional(Type.String({ pattern: '^[0-9]{1,9}$' })),
  page_token: pageToken(),
})
const artifactPath = () => Type.String({ maxLength: 1000 })
export const artifactsQuery = Type.Object({
  run_id: runId(),
  path: Type.Optional(artifactPath()),
  page_token: pageToken(),
})
export const proxiedArtifacts = Type.Object({
  path: Type.Optional(Type.String({ maxLength: 1200 })),
})
/** What earlier versions stored can be read, whatever its name. */
export const proxiedArtifact = Type.Object({
  run_id: runId(),
  path: Type.String({ minLength: 1, maxLength: 1000 }),
})
export const storedArtifact = Type.Object({
  run_id: runId(),
  path: Type.String({ minLength: 1, maxLength: 1000, pattern: `^(?:(?!\\\\)${printable})+$` }),
})

const pair = Type.Object({ key: Type.String(), value: Type.String() })
const experimentShape = Type.Object({
  experiment_id: Type.String(),
  name: Type.String(),
  artifact_location: Type.String(),
  lifecycle_stage: Type.Literal('active'),
  creation_time: Type.Integer(),
  last_update_time: Type.Integer(),
  tags: Type.Array(pair),
})
export type MlflowExperiment = Static<typeof experimentShape>
const runInfo = Type.Object({
  run_id: Type.String(),
  run_uuid: Type.String(),
  run_name: Type.String(),
  experiment_id: Type.String(),
  user_id: Type.String(),
  status: Type.Enum([...mlflowStatuses]),
  start_time: Type.Optional(Type.Integer()),
  end_time: Type.Optional(Type.Integer()),
  artifact_uri: Type.String(),
  lifecycle_stage: Type.Literal('active'),
})
export type MlflowRunInfo = Static<typeof runInfo>
const point = Type.Object({
  key: Type.String(),
  value: metricValue(),
  timestamp: Type.Integer(),
  step: Type.Integer(),
})
const file = Type.Object({
  path: Type.String(),
  is_dir: Type.Boolean(),
  file_size: Type.Optional(Type.Integer()),
})
const run = Type.Object({
  info: runInfo,
  data: Type.Object({
    metrics: Type.Array(point),
    params: Type.Array(pair),
    tags: Type.Array(pair),
  }),
  inputs: Type.Object({
    dataset_inputs: Type.Optional(
      Type.Array(
        Type.Object({
          tags: Type.Array(pair),
          dataset: Type.Record(Type.String(), Type.String()),
        }),
      ),
    ),
  }),
})
export type MlflowRunAnswer = Static<typeof run>
const nextPage = { next_page_token: Type.Optional(Type.String()) }

export const nothing = Type.Object({})
export const experimentAnswer = Type.Object({ experiment: experimentShape })
export const experimentsAnswer = Type.Object({
  experiments: Type.Array(experimentShape),
  ...nextPage,
})
export const experimentCreated = Type.Object({ experiment_id: Type.String() })
export const runAnswer = Type.Object({ run })
export const runsAnswer = Type.Object({ runs: Type.Array(run), ...nextPage })
export const runInfoAnswer = Type.Object({ run_info: runInfo })
export const historyAnswer = Type.Object({ metrics: Type.Array(point), ...nextPage })
export const modelsAnswer = Type.Object({ models: Type.Array(Type.Object({}), { maxItems: 0 }) })
export const filesAnswer = Type.Object({
  root_uri: Type.Optional(Type.String()),
  files: Type.Array(file),
})

/** The registered artifacts that an MLflow client sent, each under the path by which the client names it. */
export const mlflowFormat = 'mlflow'

export const artifactUri = (runId: string): string => `mlflow-artifacts:/${runId}`

/** Prefixes of MLflow's own paths: for running code with its ingest token, and for people. */
export const facades = [
  { mount: '/api/ingest/mlflow', credential: 'ingest' },
  { mount: '', credential: 'person' },
] as const
export type Facade = (typeof facades)[number]

export const isMlflowPath = (path: string): boolean =>
  path.startsWith('/api/ingest/mlflow/') ||
  path.startsWith('/api/2.0/mlflow') ||
  path.startsWith('/api/3.0/mlflow/')
