import test from 'ava'
import {
  parseSpec,
  type SpecTree,
  setAt,
  specOfRecipe,
} from '../../../../clients/cli/jobs/spec/job-spec.ts'
import { Failure } from '../../../../clients/cli/program/failure.ts'

test('a dotted path creates missing objects and addresses list items by index', t => {
  const spec: SpecTree = { spec: { datasets: [{ ref: 'a' }] } }
  setAt(spec, 'spec.resources.gpus_per_node', 8)
  setAt(spec, 'spec.datasets.0.ref', 'b')
  t.deepEqual(spec, { spec: { datasets: [{ ref: 'b' }], resources: { gpus_per_node: 8 } } })
  t.throws(() => setAt(spec, 'spec.datasets.0.ref.x', 1), { message: /which has no fields/ })
})

test('everything after spec.params is one key, dots included', t => {
  const spec: SpecTree = {}
  setAt(spec, 'spec.params.rollout.n', 8)
  t.deepEqual(spec, { spec: { params: { 'rollout.n': 8 } } })
})

test('no path reaches properties inherited by every object', t => {
  const spec: SpecTree = {}
  setAt(spec, '__proto__.polluted', true)
  setAt(spec, 'constructor.prototype.polluted', true)
  t.is(({} as { polluted?: boolean }).polluted, undefined)
  t.deepEqual(Object.keys(spec), ['__proto__', 'constructor'])
})

test('an unreadable file is reported with the place of the fault', t => {
  t.deepEqual(parseSpec('{"api": "forge/v2"}', 'job.json'), { api: 'forge/v2' })
  t.throws(() => parseSpec('a: 1\nb: [1,\n', 'job.yaml'), {
    message: /^job\.yaml:3:1: neither YAML nor JSON: Flow sequence .* end with a \]$/,
  })
  t.throws(() => parseSpec('- 1', 'job.yaml'), { message: /its top level must be an object/ })
  t.throws(() => parseSpec('a: 1\n---\nb: 2\n', 'job.yaml'), {
    message: 'job.yaml:2:1: a second document begins; a file holds one JobSpec',
  })
})

test('an alias without an anchor is an error in the file', t => {
  t.throws(() => parseSpec('a: &x 1\nb: *x\nfiles:\n  - *.py\n', 'job.yaml'), {
    instanceOf: Failure,
    message: /^job\.yaml:4:5: neither YAML nor JSON: Unresolved alias .*: \.py$/,
  })
})

test('an excessive number of aliases is an error in the file', t => {
  const layer = (name: string, of: string) => `${name}: &${name} [${`*${of}, `.repeat(10)}]\n`
  const text = `a: &a [1]\n${layer('b', 'a')}${layer('c', 'b')}${layer('d', 'c')}`
  t.throws(() => parseSpec(text, 'job.yaml'), {
    instanceOf: Failure,
    message: /^job\.yaml: neither YAML nor JSON: Excessive alias count/,
  })
})

test('the spec of a recipe holds its lock and nothing that has a default', t => {
  const lock = {
    name: 'digits',
    version: '1.0.0',
    digest: 'sha256:00',
    framework: { runtime_id: 'rt' },
  }
  t.deepEqual(specOfRecipe({ lock, project: 'demo', name: undefined }), {
    api: 'forge/v2',
    kind: 'train',
    metadata: { name: 'digits', project: 'demo' },
    lock,
    spec: {},
  })
})
