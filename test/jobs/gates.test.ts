import test from 'ava'
import { type AdmissionFacts, requestOf } from '../../command-api/jobs/admission/facts.ts'
import { askAll, passAll } from '../../command-api/jobs/admission/gates.ts'
import { Refusal } from '../../platform/refusal.ts'
import { gateNames } from '../../schemas/jobs/jobs.ts'
import { jobVariables } from '../../schemas/jobs/variables.ts'
import { defaultQuota } from '../../schemas/quotas.ts'
import { digest, factsOf, gpus, profile, recipe } from './facts.ts'

const refusalOf = (facts: AdmissionFacts): Refusal => {
  try {
    passAll(facts)
  } catch (error) {
    if (error instanceof Refusal) return error
  }
  throw new Error('no gate refused')
}

test('an admitted job gets the results of all gates, in their order', t => {
  const results = passAll(factsOf())
  t.deepEqual(
    results.map(result => result.gate),
    [...gateNames],
  )
  t.true(results.every(result => result.ok))
})

test('the first refusing gate refuses the job, while preflight runs all gates', t => {
  const facts = factsOf(
    { source: { entrypoint: 'x.sh' }, ...gpus(99) },
    { dangling: ['No such volume: cache'] },
  )
  t.is(refusalOf(facts).extras.fields?.gate, 'entrypoint_override')
  t.deepEqual(
    askAll(facts).flatMap(({ gate, ok }) => (ok ? [] : [gate])),
    ['entrypoint_override', 'quota', 'profile', 'references'],
  )
})

test('an unsupported dialect is named together with the supported one', t => {
  const facts = factsOf()
  const refusal = refusalOf({ ...facts, spec: { ...facts.spec, api: 'forge/v1' } })
  t.is(refusal.extras.fields?.gate, 'dialect')
  t.regex(refusal.detail, /forge\/v1.*forge\/v2/)
})

test('a lock of another digest fails the handshake with both digests', t => {
  const other = `sha256:${'77'.repeat(32)}`
  const refusal = refusalOf(factsOf({}, { recipe: { ...recipe, digest: other } }))
  t.is(
    refusal.detail,
    `Recipe handshake failed: digest differs (submitted ${digest}, catalog ${other})`,
  )
  t.is(refusal.status, 400)
})

test('the handshake names everything that differs', t => {
  const framework = { ...recipe.framework, runtime_id: 'rt_other' }
  const refusal = refusalOf(factsOf({}, { recipe: { ...recipe, version: '2.0.0', framework } }))
  t.is(
    refusal.detail,
    'Recipe handshake failed: version differs (submitted 1.4.2, catalog 2.0.0); framework.runtime_id differs (submitted rt_verl, catalog rt_other)',
  )
})

test('an unknown recipe fails the handshake with its name', t => {
  const refusal = refusalOf(factsOf({}, { recipe: null, params: null, recipes: ['digits', 'sft'] }))
  t.is(
    refusal.detail,
    'Recipe handshake failed: name differs (submitted grpo, catalog digits, sft)',
  )
})

test('the recipe owns the entrypoint', t => {
  t.is(
    refusalOf(factsOf({ source: { entrypoint: 'run.sh' } })).detail,
    'Entrypoint override refused: spec.source.entrypoint must be empty; the recipe owns the entrypoint',
  )
})

for (const [ref, registry] of [
  ['python:3.12', 'docker.io'],
  ['library/python', 'docker.io'],
  ['quay.io/team/image:1', 'quay.io'],
  ['localhost/image', 'localhost'],
  ['localhost:5000/image@sha256:00', 'localhost:5000'],
  ['registry.internal/other/image', 'registry.internal'],
  ['registry.internal/forgery/image', 'registry.internal'],
] as const)
  test(`an image ${ref} is from ${registry}, which is not allowed`, t => {
    t.is(refusalOf(factsOf({ image: { ref } })).detail, `Image registry not allowed: ${registry}`)
  })

test('an image below an allowed prefix passes, whatever its tag', t => {
  for (const ref of ['registry.internal/forge/verl:0.6.1', 'registry.internal/forge/a/b@sha256:00'])
    t.notThrows(() => passAll(factsOf({ image: { ref } })))
})

test('GPUs beyond the quota are refused with both counts', t => {
  const refusal = refusalOf(factsOf({ resources: { nodes: 2, gpus_per_node: 8 } }))
  t.is(refusal.detail, 'Insufficient quota: requested 16 GPUs, available 8')
  t.like(refusal.extras, {
    fields: { gate: 'quota' },
    code: 'quota.max_concurrent_gpus',
    data: { requested: 16, available: 8, limit: 'max_concurrent_gpus' },
  })
})

test('GPUs held by other jobs cause no refusal', t => {
  const result = passAll(factsOf(gpus(8), { held_gpus: 4 })).find(({ gate }) => gate === 'quota')
  t.is(result?.detail, '4 of the 8 GPUs that the quota allows are in use; the job waits for 8')
})

test('the cap of a series is a quota too', t => {
  const quota = { ...defaultQuota, per_series: { H100: { max_concurrent_gpus: 2 } } }
  const refusal = refusalOf(factsOf(gpus(4), { quota }))
  t.is(refusal.detail, 'Insufficient quota: requested 4 GPUs, available 2')
  t.is(refusal.extras.code, 'quota.per_series')
})

const unfit: [string, Record<string, unknown>, Partial<AdmissionFacts>, RegExp][] = [
  [
    'an unknown profile',
    { resources: { profile: 'b200' } },
    { profile: null },
    /^No such profile: b200; there is h100-8x$/,
  ],
  ['one that is switched off', {}, { profile: { ...profile, available: false } }, /not available/],
  [
    'one that the quota does not allow',
    {},
    { quota: { ...defaultQuota, allowed_profiles: ['a100'] } },
    /not allowed for ada; allowed: a100/,
  ],
  ['another series', { resources: { series: 'A100' } }, {}, /of series H100, not A100/],
  ['too many nodes', { resources: { nodes: 5 } }, {}, /has 4 nodes, not 5/],
  [
    'too many GPUs a node',
    gpus(16),
    { quota: { ...defaultQuota, max_concurrent_gpus: 64 } },
    /has 8 GPUs per node, not 16/,
  ],
  [
    'more GPUs in all than the one machine behind its nodes',
    { resources: { nodes: 2, gpus_per_node: 8 } },
    { quota: { ...defaultQuota, max_concurrent_gpus: 64 } },
    /^Profile h100-8x has 8 GPUs in total, for all nodes of a job, not 16$/,
  ],
  [
    'fewer nodes than the recipe needs',
    {},
    { recipe: { ...recipe, resources: { min_gpus: 1, min_nodes: 2, profiles: [] } } },
    /^Recipe grpo needs 2 nodes: set spec.resources.nodes to that, not 1$/,
  ],
  [
    'fewer GPUs than the recipe needs',
    gpus(1),
    { recipe: { ...recipe, resources: { min_gpus: 2, min_nodes: 1, profiles: [] } } },
    /needs 2 GPUs, the job asks for 1/,
  ],
  [
    'a profile the recipe is not made for',
    {},
    { recipe: { ...recipe, resources: { min_gpus: 1, min_nodes: 1, profiles: ['a100'] } } },
    /is for a100, not h100-8x/,
  ],
  ['too many CPUs', { resources: { cpus: 128 } }, {}, /has 64 CPUs per node, not 128/],
  ['too much memory', { resources: { memory_gb: 513 } }, {}, /has 512 GB per node, not 513/],
]
for (const [what, spec, changed, detail] of unfit)
  test(`the gate profile refuses ${what}`, t => {
    const refusal = refusalOf(factsOf(spec, changed))
    t.is(refusal.extras.fields?.gate, 'profile')
    t.regex(refusal.detail, detail)
  })

test('all dangling references are named', t => {
  const dangling = ['No such dataset: a/b@1', 'No such volume: cache']
  const refusal = refusalOf(factsOf({}, { dangling }))
  t.is(refusal.extras.fields?.gate, 'references')
  t.is(refusal.detail, 'No such dataset: a/b@1; No such volume: cache')
})

test('parameters that do not fit are named with their fault', t => {
  const errors = [
    { loc: ['body', 'lr'], msg: 'Input should be a valid number', type: 'float_type' },
  ]
  const refusal = refusalOf(factsOf({}, { params: { value: {}, errors } }))
  t.is(refusal.extras.fields?.gate, 'params')
  t.is(refusal.detail, 'Parameters refused: params.lr: Input should be a valid number')
})

const packaged = {
  upload_id: 'upl_1',
  digest: `sha256:${'1a'.repeat(32)}`,
  size_bytes: 100,
  files: 3,
  expanded_bytes: 300,
  sensitive: [],
}

test('a package is admitted by its contents, and refused with the names of sensitive files', t => {
  const source = { kind: 'package', upload_id: 'upl_1' }
  const gate = (facts: AdmissionFacts) => askAll(facts).find(one => one.gate === 'sensitive_file')
  const passed = factsOf({ source }, { package: packaged })
  t.is(gate(passed)?.detail, '3 files, 300 bytes, none sensitive')
  t.is(passAll(passed).length, gateNames.length)
  const sensitive = ['.env', 'keys/id_rsa']
  const refusal = refusalOf(factsOf({ source }, { package: { ...packaged, sensitive } }))
  t.is(refusal.status, 400)
  t.is(refusal.extras.fields?.gate, 'sensitive_file')
  t.is(refusal.detail, 'Sensitive files in the package: .env, keys/id_rsa')
  t.deepEqual(refusal.extras.data, { files: sensitive })
  t.is(gate(factsOf({ source }))?.code, 'sensitive_file.unchecked')
})

for (const name of [
  ...[
    'NODE_OPTIONS',
    'NODE_EXTRA_CA_CERTS',
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'DYLD_INSERT_LIBRARIES',
  ],
  ...['PYTHONPATH', 'PYTHONHOME', 'PYTHONSTARTUP', 'PYTHONWARNINGS', 'PYTHONUSERBASE'],
  ...['PIP_INDEX_URL', 'pip_index_url', 'UV_INDEX', 'npm_config_registry', 'PATH', 'BASH_ENV'],
  ...['ENV', 'IFS', 'GIT_SSH_COMMAND', 'PERL5OPT', 'BASH_FUNC_ls', 'GLIBC_TUNABLES'],
])
  test(`the variable ${name} is refused by its name`, t => {
    const refusal = refusalOf(factsOf({ env: { NCCL_DEBUG: 'WARN', [name]: 'x' } }))
    t.is(refusal.status, 400)
    t.like(refusal.extras, {
      fields: { gate: 'env' },
      code: 'env.refused',
      data: { refused: [name] },
    })
    t.regex(refusal.detail, new RegExp(`^Environment variables refused: ${name} change`))
  })

test('a variable that would prevent any program from starting is refused, with the limit', t => {
  // Four bytes each: as many as fit next to `LONG=` and a null byte, and one more.
  const trains = (count: number) => factsOf({ env: { LONG: '\u{1F682}'.repeat(count) } })
  t.notThrows(() => passAll(trains(32_766)))
  const refusal = refusalOf(trains(32_767))
  t.like(refusal.extras, { fields: { gate: 'env' }, code: 'env.too_long' })
  t.regex(
    refusal.detail,
    /LONG: no program can be started with a variable of more than 131071 bytes/,
  )
})

test('variables that affect only the program itself may be set', t => {
  const env = {
    NCCL_DEBUG: 'WARN',
    PYTHONHASHSEED: '0',
    HF_HOME: '/x',
    OMP_NUM_THREADS: '4',
    http_proxy: 'x',
  }
  t.notThrows(() => passAll(factsOf({ env })))
  t.deepEqual(jobVariables({ ...env, NODE_OPTIONS: '--import=x', 'A-B': '' }), env)
})

test('a masked value is not accepted', t => {
  const masked = askAll(factsOf({ env: { HUB_TOKEN: '***' } })).find(({ gate }) => gate === 'env')
  t.like(masked, { ok: false, code: 'env.masked', data: { refused: ['HUB_TOKEN'] } })
})

test('the GPUs that a recipe needs are divided among the nodes', t => {
  const resources = { min_gpus: 4, min_nodes: 1, profiles: [] }
  const of = (nodes: number) =>
    requestOf(factsOf({ resources: { nodes } }, { recipe: { ...recipe, resources } }))
  t.like(of(1), { gpus_per_node: 4, gpus: 4 })
  t.like(of(2), { gpus_per_node: 2, gpus: 4 })
  t.like(of(3), { gpus_per_node: 2, gpus: 6 })
})
