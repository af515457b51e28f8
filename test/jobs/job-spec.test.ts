import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { jobSpec } from '../../schemas/jobs/jobspec.ts'
import { checker } from '../../schemas/validate.ts'

const check = checker(jobSpec, 'body')
/** A literal property of this name would look like a promise to the linter. */
const consequence = 'then'
const least = () => ({
  api: 'forge/v2',
  metadata: { name: 'a job', project: 'math-rl' },
  lock: { name: 'grpo', version: '1.4.2', digest: 'sha256:9f', framework: { runtime_id: 'rt_1' } },
})

type Path = readonly (string | number)[]

/** The smallest JobSpec, with a value at some path. */
function having(path: Path, value: unknown): unknown {
  const spec: Record<string | number, unknown> = least()
  let at = spec
  for (const step of path.slice(0, -1)) {
    at[step] ??= {}
    at = at[step] as typeof at
  }
  at[path.at(-1) ?? ''] = value
  return spec
}

const faults = (body: unknown) => {
  const checked = check(body)
  return checked.ok ? [] : checked.errors.map(({ loc, type }) => [loc.slice(1).join('.'), type])
}

test('everything under spec has a default', t => {
  const checked = check(least())
  t.true(checked.ok)
  if (!checked.ok) return
  t.like(checked.value, {
    kind: 'train',
    spec: {
      source: { kind: 'recipe', entrypoint: '' },
      params: {},
      resources: { profile: null, nodes: 1 },
      scheduling: { priority: 0, preemptible: true, not_before: null },
      limits: { max_duration_s: null, stop_grace_s: 300 },
      retry: { max_attempts: 1 },
    },
  })
})

for (const path of [
  'api',
  'metadata.name',
  'metadata.project',
  'lock.name',
  'lock.version',
  'lock.digest',
  'lock.framework.runtime_id',
])
  test(`${path} is required`, t => {
    const body: Record<string, unknown> = least()
    const steps = path.split('.')
    const parent = steps.slice(0, -1).reduce((at, step) => at[step] as typeof at, body)
    delete parent[steps.at(-1) ?? '']
    t.deepEqual(faults(body), [[path, 'missing']])
  })

const unknownKeys: Path[] = [
  ['extra'],
  ['metadata', 'extra'],
  ['lock', 'extra'],
  ['lock', 'framework', 'extra'],
  ['spec', 'extra'],
  ['spec', 'source', 'extra'],
  ['spec', 'source', 'git', 'extra'],
  ['spec', 'resources', 'extra'],
  ['spec', 'scheduling', 'extra'],
  ['spec', 'limits', 'extra'],
  ['spec', 'retry', 'extra'],
  ['spec', 'checkpoints', 'extra'],
  ['spec', 'checkpoints', 'keep', 'extra'],
  ['spec', 'outputs', 'extra'],
  ['spec', 'approval', 'extra'],
  ['spec', 'init_from', 'extra'],
]
for (const path of unknownKeys)
  test(`an unknown key is refused at ${path.join('.')}`, t => {
    t.deepEqual(faults(having(path, 1)), [[path.join('.'), 'extra_forbidden']])
  })

for (const [key, item] of [
  ['datasets', { as: 'train', ref: 'a/b@1' }],
  ['environments', { ref: 'a/b@1' }],
  ['rubrics', { ref: 'a/b@1' }],
  ['benchmarks', { ref: 'a@1' }],
  ['volumes', { name: 'a', mount_path: '/a' }],
  ['rules', { when: 'metric', [consequence]: ['notify'] }],
] as const)
  test(`an unknown key is refused in an item of ${key}`, t => {
    t.deepEqual(faults(having(['spec', key], [item])), [])
    t.deepEqual(faults(having(['spec', key], [{ ...item, extra: 1 }])), [
      [`spec.${key}.0.extra`, 'extra_forbidden'],
    ])
  })

for (const name of ['run_1', 'Math', '-a', '', 'a'.repeat(64), 'a/b'])
  test(`'${name}' is not a valid project`, t => {
    t.is(faults(having(['metadata', 'project'], name))[0]?.[0], 'metadata.project')
  })

test('a value of env has as many characters as the reference says', async t => {
  const reference = await readFile(
    join(import.meta.dirname, '../../docs/reference/jobspec.md'),
    'utf8',
  )
  const [, most = ''] = /A value has at most ([\d,]+) characters/.exec(reference) ?? []
  const length = Number(most.replaceAll(',', ''))
  const env = (characters: number) => faults(having(['spec', 'env'], { A: 'x'.repeat(characters) }))
  t.deepEqual(env(length), [])
  t.is(env(length + 1).length, 1)
})

for (const name of ['SERVICE_TOKEN', 'FORGE_PARAMS', 'CUDA_VISIBLE_DEVICES', 'A-B', '1A'])
  test(`the environment variable ${name} cannot be set`, t => {
    t.deepEqual(faults(having(['spec', 'env'], { [name]: 'x' })), [
      [`spec.env.${name}`, 'extra_forbidden'],
    ])
  })

const outOfRange: [Path, unknown][] = [
  [['spec', 'resources', 'nodes'], 0],
  [['spec', 'resources', 'gpus_per_node'], -1],
  [['spec', 'scheduling', 'priority'], 1000],
  [['spec', 'scheduling', 'not_before'], '2026-11-20T12:00:00'],
  [['spec', 'limits', 'max_duration_s'], 0],
  [['spec', 'limits', 'max_cost'], '1e9'],
  [['spec', 'retry', 'max_attempts'], 0],
  [['spec', 'init_from', 'load'], 'everything'],
]
for (const [path, value] of outOfRange)
  test(`${path.join('.')} of ${JSON.stringify(value)} is refused`, t => {
    t.is(faults(having(path, value))[0]?.[0], path.join('.'))
  })

test('any text is a well-formed dialect, so that its own gate refuses it', t => {
  t.deepEqual(faults({ ...least(), api: 'forge/v9' }), [])
})

test('the load list of an artifact is accepted as init_from', t => {
  const init_from = { artifact_id: 'art_1', load: ['weights', 'full_state'] }
  t.deepEqual(faults(having(['spec', 'init_from'], init_from)), [])
})
