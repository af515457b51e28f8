import test from 'ava'
import type { Recipe, RecipeLock } from '../../schemas/recipes.ts'
import { startForge } from '../servers/forge.ts'
import { signedIn } from '../servers/signed-in.ts'

type Refusal = { gate: string; code: string; detail: string; data?: object; hint?: string }
type Gates = { ok: boolean; gates: (Partial<Refusal> & { ok: boolean })[] }
type Job = { api?: string; lock?: object; spec?: Record<string, unknown> }

/** Ada may hold four GPUs, two of them of the series H100, and use three of the four profiles. */
async function openForge(t: Parameters<typeof startForge>[0]) {
  const forge = await startForge(t, { SERVICE_ROLES: 'command-api,query-api' })
  const put = (path: string, body: object) => forge.call('PUT', path, { body })
  const machine = { gpus_per_node: 3, executor: 'local', cpus: 8, memory_gb: 32 }
  await put('/api/admin/profiles/local', { ...machine, series: 'local', max_nodes: 2 })
  await put('/api/admin/profiles/h100', { ...machine, series: 'H100' })
  await put('/api/admin/profiles/broken', { ...machine, series: 'local', available: false })
  await put('/api/admin/profiles/closed', { ...machine, series: 'local' })
  await put('/api/admin/image-registries', { registries: ['registry.internal/forge'] })
  const token = await signedIn(forge, 'ada')
  await forge.call('POST', '/api/admin/quotas', {
    body: {
      username: 'ada',
      max_concurrent_gpus: 4,
      allowed_profiles: ['local', 'h100', 'broken'],
      per_series: { H100: { max_concurrent_gpus: 2 } },
    },
  })
  const { body: lock } = await forge.call<RecipeLock>('GET', '/api/recipes/digits/1.0.0/lock')
  const { body: recipes } = await forge.call<Recipe[]>('GET', '/api/recipes')
  const names = [...new Set(recipes.map(({ name }) => name))]
  const call = <T>(path: string, job: Job) =>
    forge.call<T>('POST', path, {
      token,
      body: {
        api: 'forge/v2',
        metadata: { name: 'a job', project: 'math-rl' },
        spec: {},
        ...job,
        lock: { ...lock, ...job.lock },
      },
    })
  return {
    lock,
    names,
    submit: (job: Job) => call<Refusal & { request_id: string }>('/api/jobs', job),
    preflight: (job: Job) => call<Gates>('/api/jobs/preflight', job),
  }
}

const otherDigest = `sha256:${'77'.repeat(32)}`
const whereLocks = 'Use the lock that GET /api/recipes/digits/1.0.0/lock returns'
const others = 'or use another profile (forge profile list, GET /api/profiles)'

/** A job for each way in which a gate refuses, and the refusal. */
const refusals = (lock: RecipeLock, names: string[]): [Job, Refusal][] => {
  const handshake = (
    field: keyof RecipeLock | 'framework.runtime_id',
    catalog: string,
    submitted: string,
  ) => ({
    gate: 'recipe_handshake',
    code: `recipe_handshake.${field}`,
    detail: `Recipe handshake failed: ${field} differs (submitted ${submitted}, catalog ${catalog})`,
    data: { submitted: { [field]: submitted }, catalog: { [field]: catalog } },
    hint: whereLocks,
  })
  const profile = (detail: string, data: object, hint: string, name = 'local') => ({
    gate: 'profile',
    code: 'profile.unfit',
    detail,
    data: { profile: name, ...data },
    hint,
  })
  const unknown = (...faults: string[]) => ({
    gate: 'references',
    code: 'references.unknown',
    detail: faults.join('; '),
    data: { unknown: faults },
    hint: 'Remove the references to missing resources, or ask the owners to share them',
  })
  const { framework } = lock
  return [
    [
      { api: 'forge/v1' },
      {
        gate: 'dialect',
        code: 'dialect.unknown',
        detail:
          'Unsupported dialect: the job has api forge/v1, this control plane accepts forge/v2',
        data: { submitted: 'forge/v1', spoken: 'forge/v2' },
        hint: 'Write the job in dialect forge/v2',
      },
    ],
    [
      { lock: { name: 'grpo' } },
      {
        gate: 'recipe_handshake',
        code: 'recipe_handshake.name',
        detail: `Recipe handshake failed: name differs (submitted grpo, catalog ${names.join(', ')})`,
        data: { submitted: { name: 'grpo' }, catalog: { names } },
        hint: 'Use the lock of a recipe that GET /api/recipes lists',
      },
    ],
    [{ lock: { version: '9.0.0' } }, handshake('version', '1.0.0', '9.0.0')],
    [{ lock: { digest: otherDigest } }, handshake('digest', lock.digest, otherDigest)],
    [
      { lock: { framework: { ...framework, runtime_id: 'rt_other' } } },
      handshake('framework.runtime_id', framework.runtime_id, 'rt_other'),
    ],
    [
      { spec: { source: { entrypoint: 'run.sh' } } },
      {
        gate: 'entrypoint_override',
        code: 'entrypoint_override',
        detail:
          'Entrypoint override refused: spec.source.entrypoint must be empty; the recipe owns the entrypoint',
        data: { submitted: 'run.sh' },
        hint: 'Leave out spec.source.entrypoint; parameters go into spec.params',
      },
    ],
    [
      { spec: { image: { ref: 'python:3.12' } } },
      {
        gate: 'image_registry',
        code: 'image_registry.not_allowed',
        detail: 'Image registry not allowed: docker.io',
        data: { image: 'python:3.12', allowed: ['registry.internal/forge'] },
        hint: 'Leave out spec.image to use the recipe’s own, or ask an admin to allow the registry',
      },
    ],
    [
      { spec: { resources: { nodes: 2, gpus_per_node: 3 } } },
      {
        gate: 'quota',
        code: 'quota.max_concurrent_gpus',
        detail: 'Insufficient quota: requested 6 GPUs, available 4',
        data: { requested: 6, available: 4, limit: 'max_concurrent_gpus' },
        hint: 'Ask for at most 4 GPUs, or ask an admin for more quota',
      },
    ],
    [
      { spec: { resources: { profile: 'h100', gpus_per_node: 3 } } },
      {
        gate: 'quota',
        code: 'quota.per_series',
        detail: 'Insufficient quota: requested 3 GPUs, available 2',
        data: { requested: 3, available: 2, limit: 'per_series.H100' },
        hint: 'Ask for at most 2 GPUs, or ask an admin for more quota',
      },
    ],
    [
      { spec: { resources: { profile: 'b200' } } },
      {
        gate: 'profile',
        code: 'profile.unfit',
        detail: 'No such profile: b200; there is broken, closed, h100, local',
        data: { profiles: ['broken', 'closed', 'h100', 'local'] },
        hint: 'Set spec.resources.profile to broken or closed or h100 or local',
      },
    ],
    [
      { spec: { resources: { profile: 'broken' } } },
      profile(
        'Profile broken is currently not available',
        { limit: 'available' },
        `Ask an admin to make it available, ${others}`,
        'broken',
      ),
    ],
    [
      { spec: { resources: { profile: 'closed' } } },
      profile(
        'Profile closed is not allowed for ada; allowed: local, h100, broken',
        {
          limit: 'allowed_profiles',
          requested: 'closed',
          available: ['local', 'h100', 'broken'],
        },
        'Set spec.resources.profile to local or h100 or broken, or ask an admin for more',
        'closed',
      ),
    ],
    [
      { spec: { resources: { series: 'A100' } } },
      profile(
        'Profile local is of series local, not A100',
        { limit: 'series', requested: 'A100', available: 'local' },
        `Leave out spec.resources.series, ${others}`,
      ),
    ],
    [
      { spec: { resources: { gpus_per_node: 0 } } },
      profile(
        'Recipe digits needs 1 GPUs, the job asks for 0',
        { limit: 'min_gpus', requested: 0, available: 1 },
        'Ask for at least 1 GPUs',
      ),
    ],
    ...(
      [
        [{ nodes: 3 }, 'max_nodes', 3, 2, 'nodes'],
        [{ gpus_per_node: 4 }, 'gpus_per_node', 4, 3, 'GPUs per node'],
        [{ nodes: 2, gpus_per_node: 2 }, 'gpus', 4, 3, 'GPUs in total, for all nodes of a job'],
        [{ cpus: 9 }, 'cpus', 9, 8, 'CPUs per node'],
        [{ memory_gb: 32.5 }, 'memory_gb', 32.5, 32, 'GB per node'],
      ] as const
    ).map(([resources, limit, requested, available, unit]): [Job, Refusal] => [
      { spec: { resources } },
      profile(
        `Profile local has ${available} ${unit}, not ${requested}`,
        { limit, requested, available },
        `Ask for at most ${available} ${unit}, ${others}`,
      ),
    ]),
    [
      {
        spec: {
          datasets: [{ as: 'train', ref: 'a/b@1' }],
          environments: [{ ref: 'a/env@1' }],
          rubrics: [{ ref: 'a/none' }],
          volumes: [{ name: 'cache', mount_path: '/cache' }],
          init_from: { artifact_id: 'art_1' },
        },
      },
      unknown(
        'No such rubric: a/none',
        'No such artifact: art_1',
        'No such dataset: a/b@1',
        'No such environment: a/env@1',
        'No such volume: cache',
      ),
    ],
    [
      { spec: { secrets: ['HUB_TOKEN'], benchmarks: [{ ref: 'gsm8k' }] } },
      unknown(
        'No such benchmark: gsm8k',
        'You have no secret named HUB_TOKEN; set it (forge secret set HUB_TOKEN), or correct spec.secrets',
      ),
    ],
    [
      { spec: { init_from: { run_id: 'run_1', select: { step: 3 } } } },
      unknown('Run run_1 has no artifact to start from (step 3)'),
    ],
    [
      { spec: { params: { lr: 'high', epochs: 0, other: 1 } } },
      {
        gate: 'params',
        code: 'params.invalid',
        detail:
          'Parameters refused: params.other: Extra inputs are not permitted; params.epochs: Input should be greater than or equal to 1; params.lr: Input should be a valid number',
        data: {
          faults: [
            'params.other: Extra inputs are not permitted',
            'params.epochs: Input should be greater than or equal to 1',
            'params.lr: Input should be a valid number',
          ],
        },
        hint: 'See params_schema of GET /api/recipes/digits/1.0.0',
      },
    ],
    [
      { spec: { env: { LD_PRELOAD: 'x', NCCL_DEBUG: 'WARN' } } },
      {
        gate: 'env',
        code: 'env.refused',
        detail:
          'Environment variables refused: LD_PRELOAD changes how programs are loaded, found or installed',
        data: { refused: ['LD_PRELOAD'] },
        hint: 'Leave them out of spec.env; pass what the program needs as parameters',
      },
    ],
  ]
}

test('each gate refuses with its text, data and hint; a preflight names all, a submit the first', async t => {
  const { lock, names, submit, preflight } = await openForge(t)
  for (const [job, refusal] of refusals(lock, names)) {
    const { status, body } = await submit(job)
    t.is(status, 400, refusal.detail)
    const { request_id, ...refused } = body
    t.truthy(request_id)
    t.deepEqual(refused, refusal)
    const { body: asked } = await preflight(job)
    t.false(asked.ok)
    t.deepEqual(
      asked.gates.find(({ gate }) => gate === refusal.gate),
      { ok: false, ...refusal },
    )
  }
  t.is((await submit({})).status, 200)

  // For a job that breaks five gates, a preflight names all five, and a submit the first.
  const job = {
    lock: { digest: otherDigest },
    spec: {
      source: { entrypoint: 'run.sh' },
      image: { ref: 'python:3.12' },
      datasets: [{ as: 'train', ref: 'a/b@1' }],
      params: { lr: 'high' },
    },
  }
  const { status, body } = await preflight(job)
  t.is(status, 200)
  t.false(body.ok)
  t.deepEqual(
    body.gates.flatMap(({ gate, ok }) => (ok ? [] : [gate])),
    ['recipe_handshake', 'entrypoint_override', 'image_registry', 'references', 'params'],
  )
  t.is((await submit(job)).body.gate, 'recipe_handshake')

  // Parameters of an unknown recipe are unchecked.
  const unknown = await preflight({ lock: { name: 'grpo' }, spec: { params: { lr: 1 } } })
  t.deepEqual(
    unknown.body.gates.flatMap(({ gate, code, ok }) => (ok ? [] : [[gate, code]])),
    [
      ['recipe_handshake', 'recipe_handshake.name'],
      ['params', 'params.unchecked'],
    ],
  )
})
