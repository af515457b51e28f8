import test from 'ava'
import {
  deleteTag,
  logInputs,
  newParams,
  reportStatus,
  setTags,
  tagExperiment,
} from '../../command-api/mlflow/decide.ts'
import {
  type MlflowEvent,
  type MlflowInput,
  type MlflowRun,
  mlflowRuns,
} from '../../events/mlflow.ts'
import { Refusal } from '../../platform/refusal.ts'
import { folded, recordable } from '../folded.ts'

const run_id = 'run_1'
const after = (...events: MlflowEvent[]): MlflowRun => folded(mlflowRuns, events)
const tagged = (tags: Record<string, string>): MlflowEvent => ({
  type: 'mlflow.tags_set',
  data: { run_id, tags },
})
const finished: MlflowEvent = {
  type: 'mlflow.status_reported',
  data: { run_id, status: 'FINISHED', end_time_ms: 7 },
}
const input: MlflowInput = {
  name: 'corpus',
  digest: 'c0ffee',
  source_type: 'local',
  source: '{}',
  schema: null,
  profile: null,
  tags: {},
}

test('a parameter is written once: the same value again is harmless, another is refused', t => {
  const hparams = { lr: '0.1', seed: 3 }
  const params = [
    { key: 'lr', value: '0.1' },
    // Reported as a number by another client.
    { key: 'seed', value: '3' },
    { key: 'depth', value: '2' },
    { key: 'constructor', value: 'x' },
  ]
  t.deepEqual(newParams(hparams, run_id, params), { depth: '2', constructor: 'x' })
  t.throws(() => newParams(hparams, run_id, [{ key: 'lr', value: '0.2' }]), {
    instanceOf: Refusal,
    message: /^Changing param values is not allowed\. Param with key='lr' was already logged/,
  })
  const twice = ['1', '2'].map(value => ({ key: 'depth', value }))
  t.throws(() => newParams(hparams, run_id, twice), { code: 'invalid' })
})

test('tags are set and changed; unchanged ones append no event', t => {
  const run = after(tagged({ a: '1', b: '2' }))
  const tags = Object.entries({ a: '1', b: '3', c: '4' }).map(([key, value]) => ({ key, value }))
  t.deepEqual(setTags(run, run_id, tags), [tagged({ b: '3', c: '4' })])
  t.deepEqual(setTags(run, run_id, tags.slice(0, 1)), [])
  const named = setTags(run, run_id, [{ key: 'mlflow.runName', value: ' best ' }])
  t.deepEqual(named, [tagged({ 'mlflow.runName': 'best' })])
})

test('a run has at most 2000 tags, and 2 MiB of them', t => {
  const many = (count: number, value: string) =>
    Array.from({ length: count }, (_, at) => ({ key: `tag ${at}`, value }))
  t.throws(() => setTags(after(), run_id, many(2001, 'x')), { message: /at most 2000/ })
  t.throws(() => setTags(after(), run_id, many(300, 'x'.repeat(8000))), { message: /bytes/ })
})

test('a batch of the longest tags is recorded in parts', t => {
  const tags = Array.from({ length: 100 }, (_, at) => ({ key: `${at}`, value: 'x'.repeat(8000) }))
  const events = setTags(after(), run_id, tags)
  t.true(events.length > 1)
  t.is(Object.keys(after(...events.map(recordable)).tags).length, 100)
})

test('a tag is deleted; a missing one is refused in MLflow’s words', t => {
  const run = after(tagged({ a: '1' }))
  const [event] = deleteTag(run, run_id, 'a')
  t.deepEqual(event?.type === 'mlflow.tag_deleted' && after(tagged({ a: '1' }), event).tags, {})
  const error = t.throws(() => deleteTag(run, run_id, 'toString'), { instanceOf: Refusal })
  t.deepEqual(error?.extras.fields, { error_code: 'RESOURCE_DOES_NOT_EXIST' })
})

test('a status is recorded when it changes', t => {
  t.deepEqual(reportStatus(after(), run_id, { status: 'FINISHED', end_time_ms: 7 }), [finished])
  t.deepEqual(reportStatus(after(finished), run_id, { status: 'FINISHED', end_time_ms: 7 }), [])
})

test('a data set is named once, and a run names at most 100', t => {
  const [event] = logInputs(after(), run_id, [input, input])
  t.deepEqual(event, { type: 'mlflow.inputs_logged', data: { run_id, inputs: [input] } })
  t.deepEqual(event && logInputs(after(event), run_id, [input]), [])
  const many = Array.from({ length: 101 }, (_, at) => ({ ...input, digest: `${at}` }))
  t.throws(() => logInputs(after(), run_id, many), { message: /at most 100/ })
})

test('a tag of a project is recorded when it changes; a project has at most 2000', t => {
  const event: MlflowEvent = {
    type: 'mlflow.experiment_tagged',
    data: { project: 'demo', key: 'a', value: '1' },
  }
  t.deepEqual(tagExperiment(after(), 'demo', { key: 'a', value: '1' }), [event])
  t.deepEqual(tagExperiment(after(event), 'demo', { key: 'a', value: '1' }), [])
  const full = tagged(Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`${at}`, 'x'])))
  t.throws(() => tagExperiment(after(full), 'demo', { key: 'a', value: '1' }), { code: 'invalid' })
})
