import test from 'ava'
import type { TSchema } from 'typebox'
import { harmlessValue } from '../../clients/cli/terminal/harmless.ts'
import { artifactInput } from '../../schemas/artifacts/artifacts.ts'
import { benchmarkInput } from '../../schemas/benchmarks/results.ts'
import { hardwareInput } from '../../schemas/hardware.ts'
import { jobSpec } from '../../schemas/jobs/jobspec.ts'
import { metricsInput } from '../../schemas/metrics/metrics.ts'
import { experimentInput, inputsInput, storedArtifact, tagInput } from '../../schemas/mlflow.ts'
import { modelInput } from '../../schemas/models.ts'
import { rubricInput } from '../../schemas/rubrics/rubrics.ts'
import { runInput } from '../../schemas/runs/runs.ts'
import { uploadInput } from '../../schemas/uploads.ts'
import { userInput } from '../../schemas/users.ts'
import { checker } from '../../schemas/validate.ts'
import { viewPath } from '../../schemas/views.ts'
import { panel } from '../../schemas/workspace.ts'

const spec = (metadata: object) => ({
  api: 'forge/v2',
  kind: 'train',
  metadata: { name: 'a', project: 'demo', ...metadata },
  lock: { name: 'a', version: '1.0.0', digest: 'sha256:1', framework: { runtime_id: 'rt' } },
  spec: {},
})

const dataset = { digest: 'd', source_type: 'local', source: '{}' }

/** Where people and running code name something, with a body around the name. */
const named: [what: string, schema: TSchema, around: (name: string) => object][] = [
  ['a project', runInput, name => ({ project: name })],
  ['a run', runInput, name => ({ project: 'demo', name })],
  ['a tag of a run', runInput, name => ({ project: 'demo', tags: [name] })],
  ['a job', jobSpec, name => spec({ name })],
  ['a tag of a job', jobSpec, name => spec({ tags: [name] })],
  ['a label of a job', jobSpec, name => spec({ labels: { [name]: 'x' } })],
  ['a team', jobSpec, name => spec({ team: name })],
  ['a person', userInput, display_name => ({ username: 'ada', role: 'operator', display_name })],
  ['a user', userInput, username => ({ username, role: 'operator' })],
  ['a model', modelInput, name => ({ name, project: 'demo' })],
  ['a rubric', rubricInput, name => ({ name, criteria: [{ name: 'a' }] })],
  ['a criterion', rubricInput, name => ({ name: 'a', criteria: [{ name }] })],
  [
    'the path of an artifact',
    artifactInput,
    path => ({ run_id: 'r', kind: 'checkpoint', path, format: 'pt' }),
  ],
  ['a file', uploadInput, filename => ({ purpose: 'package', filename, size_bytes: 1 })],
  ['a metric', metricsInput, key => ({ run_id: 'r', points: [{ key, step: 1, value: 1 }] })],
  [
    'a benchmark',
    benchmarkInput,
    benchmark => ({ run_id: 'r', benchmark, scores: [{ metric: 'm', value: 1 }] }),
  ],
  ["MLflow's tag", tagInput, key => ({ run_id: 'r', key, value: 'x' })],
  ["MLflow's experiment", experimentInput, name => ({ name })],
  ["a file of MLflow's", storedArtifact, path => ({ run_id: 'r', path })],
  [
    "MLflow's dataset",
    inputsInput,
    name => ({ run_id: 'r', datasets: [{ dataset: { ...dataset, name } }] }),
  ],
  [
    'a metric of an artifact',
    artifactInput,
    name => ({ run_id: 'r', kind: 'checkpoint', path: 'p', format: 'pt', metrics: { [name]: 1 } }),
  ],
  [
    'a reading of hardware',
    hardwareInput,
    name => ({ run_id: 'r', points: [{ ts: '2026-01-01T00:00:00Z', scope: 'host', [name]: 1 }] }),
  ],
  ['a panel', panel, title => ({ kind: 'line', keys: ['loss'], title })],
  ['a view', viewPath, view => ({ name: 'demo', view })],
]
const refused: [what: string, text: string][] = [
  ['a terminal sequence', 'a\u001b[2Jb'],
  ['a C1 control', 'a\u009bb'],
  ['a newline', 'a\nb'],
  ['DEL', 'a\u007fb'],
  ['an override', 'a\u202eb'],
  ['an isolate', 'a\u2066b'],
  ['a line separator', 'a\u2028b'],
]

for (const [what, schema, around] of named)
  test(`${what} has no control in its name, and no mark of direction`, t => {
    const check = checker(schema, 'body')
    t.true(check(around('ab')).ok, JSON.stringify(check(around('ab'))))
    for (const [why, text] of refused) t.false(check(around(text)).ok, why)
  })

test('a file is not called like a folder', t => {
  const check = checker(uploadInput, 'body')
  const file = { purpose: 'package', size_bytes: 1 }
  for (const filename of ['.', '..', 'a/b', 'a\\\\b'])
    t.false(check({ ...file, filename }).ok, filename)
  for (const filename of ['.env', '...', 'a..b']) t.true(check({ ...file, filename }).ok, filename)
})

test('letters of every script are accepted', t => {
  const check = checker(runInput, 'body')
  for (const name of ['größer 🚀', '训练', 'تدريب', 'שלום', "O'Neil – «x»"])
    t.true(check({ project: 'demo', name }).ok, name)
  const { errors } = check({ project: 'demo', name: 'a\u202eb' }) as { errors: { msg: string }[] }
  t.is(
    errors[0]?.msg,
    'A name should not contain control characters, or marks that change the direction of text',
  )
})

test('names of earlier versions are shown escaped on a terminal', t => {
  t.deepEqual(
    harmlessValue({ name: 'a\u001b[2J\u202eb', tags: ['x\ny'], notes: 'x\u001b[2Jy\nz' }),
    { name: 'a\\x1b[2J\\u202eb', tags: ['x\\x0ay'], notes: 'xy\nz' },
  )
})
