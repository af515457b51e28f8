import test from 'ava'
import { changesBetween } from '../../../../clients/cli/jobs/spec/changes.ts'
import { withoutDefaults } from '../../../../clients/cli/jobs/spec/defaults.ts'
import { originOf, withPlaces } from '../../../../clients/cli/jobs/spec/positions.ts'
import { failureOfAnswer } from '../../../../clients/cli/program/failure.ts'

const text = `api: forge/v2
metadata:
  name: first
  tags: 3
spec: &all
  datasets:
    - {as: train, ref: team/a@1}
    - as: val
      reff: team/b@1
  "params": {lr: 0.1}
  env:
    LD_PRELOAD: x
other: *all
`
const place = (...path: (string | number)[]) =>
  originOf({ text, name: 'job.yaml' }).placeInSpec(path)

test('the place of a value is where its key or list item begins', t => {
  t.is(place('api'), 'job.yaml:1:1')
  t.is(place('metadata', 'tags'), 'job.yaml:4:3')
  t.is(place('spec', 'datasets', 0), 'job.yaml:7:7')
  t.is(place('spec', 'datasets', 1, 'reff'), 'job.yaml:9:7')
  t.is(place('spec', 'params', 'lr'), 'job.yaml:10:14')
  t.is(place('other', 'datasets', 1, 'as'), 'job.yaml:8:7', 'through an alias')
})

test('the place of a missing value is where its section begins', t => {
  t.is(place('metadata', 'project'), 'job.yaml:2:1')
  t.is(place('spec', 'datasets', 7, 'ref'), 'job.yaml:6:3')
  t.is(place('lock', 'name'), 'job.yaml:1:1')
  t.is(place(), 'job.yaml:1:1')
  t.is(originOf({ text: '', name: 'empty.yaml' }).placeInSpec(['api']), 'empty.yaml:1:1')
})

test('JSON has places too', t => {
  const json = '{\n  "api": "forge/v2",\n  "metadata": {"tags": 3}\n}'
  t.is(
    originOf({ text: json, name: 'job.json' }).placeInSpec(['metadata', 'tags']),
    'job.json:3:16',
  )
})

test('the place of a value from an option is the option, not its section', t => {
  const setBy = new Map([['spec.foo.bar', '--set']])
  for (const written of [{ text, name: 'job.yaml' }, null]) {
    const origin = originOf(written, setBy)
    t.is(origin.placeInSpec(['spec', 'foo']), '--set')
    t.is(origin.placeInSpec(['spec', 'foo', 'bar']), '--set')
  }
  const origin = originOf({ text, name: 'job.yaml' }, new Map([['spec.params.seed', '--param']]))
  t.is(origin.placeInSpec(['spec', 'params']), 'job.yaml:10:3', 'this was written as well')
})

const refused = (body: object, status = 422) => failureOfAnswer(status, body, null)
const fault = (loc: (string | number)[], msg: string, type: string) => ({
  loc: ['body', ...loc],
  msg,
  type,
})

test('each rejected field is shown with its place, or the option that set it', t => {
  const failure = refused({
    detail: [
      { ...fault(['spec', 'datasets', 1, 'reff'], 'Extra inputs', 'extra_forbidden'), input: 1 },
      fault(['metadata', 'tags'], 'Input should be a valid list', 'list_type'),
      fault(['lock'], 'Field required', 'missing'),
    ],
  })
  const origin = originOf({ text, name: 'job.yaml' }, new Map([['metadata.tags', '--set']]))
  const told = withPlaces(failure, origin)
  t.deepEqual(told.lines, [
    'job.yaml:9:7: spec.datasets.1.reff: Extra inputs, not 1 (extra_forbidden)',
    '--set: metadata.tags: Input should be a valid list (list_type)',
    'job.yaml:1:1: lock: Field required (missing)',
  ])
  t.like(told.fields.detail, [{ place: 'job.yaml:9:7' }, { place: '--set' }])
})

test('a refusal by a gate shows the places that it concerns', t => {
  const at = (gate: string, data: object = {}) =>
    withPlaces(refused({ detail: 'no', gate, data }, 400), originOf({ text, name: 'job.yaml' }))
      .fields.places
  t.deepEqual(at('env', { refused: ['LD_PRELOAD'] }), ['job.yaml:12:5'])
  t.deepEqual(at('params', { faults: ['params.lr: Input should be greater than 1'] }), [
    'job.yaml:10:14',
  ])
  t.deepEqual(at('dialect'), ['job.yaml:1:1'])
  t.is(at('sensitive_file'), undefined)
})

test('an omitted default is not a change, and values of env are not shown', t => {
  const before = {
    api: 'forge/v2',
    kind: 'train',
    metadata: { name: 'a', project: 'p', tags: [], notes: '' },
    spec: {
      params: { lr: 0.1, depth: 2 },
      limits: { max_cost: null, stop_grace_s: 300 },
      env: { HUB_TOKEN: '***', NCCL_DEBUG: 'WARN' },
    },
  }
  const after = {
    api: 'forge/v2',
    metadata: { name: 'a', project: 'p' },
    spec: {
      params: { lr: 0.2 },
      limits: { stop_grace_s: 30 },
      env: { HUB_TOKEN: 'abc', NCCL_DEBUG: 'INFO' },
    },
  }
  t.deepEqual(withoutDefaults(before), {
    api: 'forge/v2',
    metadata: { name: 'a', project: 'p' },
    spec: { params: { lr: 0.1, depth: 2 }, env: before.spec.env },
  })
  t.deepEqual(changesBetween(before, after), [
    { path: 'spec.env.NCCL_DEBUG', from: '***', to: '***' },
    { path: 'spec.limits.stop_grace_s', from: 300, to: 30 },
    { path: 'spec.params.depth', from: 2, to: undefined },
    { path: 'spec.params.lr', from: 0.1, to: 0.2 },
  ])
})
