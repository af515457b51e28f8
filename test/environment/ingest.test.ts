import test from 'ava'
import { type Forge, startForge } from '../servers/forge.ts'
import { createRun, type ExternalRun } from '../servers/runs.ts'
import { until } from '../servers/until.ts'

type Refused = { detail: { loc: unknown[]; type: string }[] }
type Answer = {
  digest: string | null
  captured_at: string | null
  environment: Record<string, unknown> | null
  against?: { run_id: string; digest: string | null }
  differences?: { key: string; value: unknown; against: unknown }[]
}

const send = (forge: Forge, run: ExternalRun, body: object, nodes = '') =>
  forge.call<Refused & Record<string, unknown>>('POST', `/api/ingest/environment${nodes}`, {
    token: run.token,
    body: { run_id: run.run_id, ...body },
  })
const describe = (forge: Forge, run: ExternalRun, nodes: unknown) =>
  send(forge, run, { nodes }, '/nodes')
const read = async <T = Answer>(forge: Forge, run: ExternalRun, rest = '') =>
  (await forge.call<T>('GET', `/api/runs/${run.run_id}/environment${rest}`)).body as T

/** Every field in the contract. */
const full = {
  captured_at: '2026-11-20T12:00:00+00:00',
  os: 'Linux-6.1',
  kernel: '6.1',
  hostname: 'n1',
  python: '3.11.9',
  executable: '/usr/bin/python3',
  command: 'train.py --token abc',
  cwd: '/srv',
  image: null,
  image_digest: null,
  cuda_version: '12.8',
  cuda_driver: '570.1',
  cudnn: '9.1',
  nccl: '2.26',
  torch: '2.9.1',
  packages: { torch: '2.9.1', numpy: '2.3' },
  env: { WORLD_SIZE: '8', HF_TOKEN: 'abc' },
  git: { remote: 'https://u:secret@host/a.git', commit: 'c0ffee', branch: 'main', dirty: true },
  gpus: [{ index: 0, name: 'H100', uuid: 'GPU-0', mem_total_bytes: 85899345920, arch: 'sm_90' }],
  gpu_count: 1,
  cpu_model: 'a CPU',
  cpu_count: 64,
  cpu_count_logical: 128,
  mem_total_bytes: 1,
  world_size: 8,
  local_world_size: 8,
  launcher: 'torchrun',
  scheduler: { kind: 'slurm', job_id: '7' },
}
const n1 = {
  node: 'n1',
  node_rank: 1,
  hostname: 'n1',
  ip: '10.0.0.1',
  gpus: full.gpus,
  gpu_count: 1,
  cuda_driver: '570.1',
  cpu_model: 'a CPU',
  cpu_count: 64,
  mem_total_bytes: 1,
  disk_total_bytes: 1,
  nics: [{ name: 'ib0', speed_gbps: 400, kind: 'infiniband' }],
  nvlink: 'full',
  numa_nodes: 2,
}

test.serial(
  'an environment is stored without secrets, by its digest, and compared with that of another run',
  async t => {
    const forge = await startForge(t)
    const [one, other] = [await createRun(forge), await createRun(forge)]
    const first = await send(forge, one, full)
    t.is(first.status, 200)
    t.deepEqual(first.body as object, { ok: true, digest: first.body.digest, changed: false })
    t.regex(String(first.body.digest), /^sha256:[0-9a-f]{64}$/)
    t.is(first.headers.get('Forge-Control'), 'none')
    const later = { ...full, captured_at: '2026-11-20T13:00:00+00:00' }
    t.deepEqual((await send(forge, one, later)).body as object, first.body)
    t.deepEqual((await send(forge, other, full)).body as object, first.body)
    const changed = await send(forge, other, { ...full, packages: { torch: '2.8.0' } })
    t.true(changed.body.changed)
    t.not(changed.body.digest, first.body.digest)

    const { environment, ...rest } = await until('both can be read', 20_000, async () => {
      const answer = await read(forge, one, `?against=${other.short_id}`)
      return answer.digest !== null && answer.against?.digest === changed.body.digest && answer
    })
    t.deepEqual(rest, {
      digest: String(first.body.digest),
      captured_at: full.captured_at,
      against: { run_id: other.run_id, digest: String(changed.body.digest) },
      differences: [
        { key: 'packages.numpy', value: '2.3', against: null },
        { key: 'packages.torch', value: '2.9.1', against: '2.8.0' },
      ],
    })
    const { captured_at, image, image_digest, ...known } = full
    t.deepEqual(environment, {
      ...known,
      command: 'train.py --token ***',
      env: { WORLD_SIZE: '8', HF_TOKEN: '***' },
      git: { ...full.git, remote: 'https://***@host/a.git' },
    })
    const { rows } = await forge.pool.query(
      `select (select count(*) from read.environments) as pictures,
            (select count(*) from write.event where data::text like '%secret@%' or data::text like '%abc%') as leaks`,
    )
    t.deepEqual(rows, [{ pictures: 2, leaks: 0 }])
    t.like((await forge.call('GET', `/api/runs/${one.run_id}`)).body, {
      environment_digest: rest.digest,
    })
    const none = await createRun(forge)
    t.deepEqual(await read(forge, none), { digest: null, captured_at: null, environment: null })
    t.is((await forge.call('GET', `/api/runs/${one.run_id}/environment?against=x`)).status, 404)
  },
)

test.serial('nodes are upserted by name', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  t.deepEqual((await describe(forge, run, [n1])).body as object, { ok: true, nodes: 1 })
  t.deepEqual((await describe(forge, run, [n1])).body as object, { ok: true, nodes: 1 })
  const nodes = [
    { ...n1, cpu_count: 32 },
    { node: 'n0', node_rank: 0 },
  ]
  t.deepEqual((await describe(forge, run, nodes)).body as object, { ok: true, nodes: 2 })
  t.deepEqual((await describe(forge, run, [])).body as object, { ok: true, nodes: 2 })
  type Nodes = { node: string; facts: Record<string, unknown> }[]
  const found = await until('both can be read', 20_000, async () => {
    const rows = await read<Nodes>(forge, run, '/nodes')
    return rows.length === 2 && rows
  })
  t.deepEqual(
    found.map(({ node, facts }) => [node, facts.cpu_count]),
    [
      ['n0', undefined],
      ['n1', 32],
    ],
  )
})

test.serial(
  'each bad field is 422 at its place; limits, foreign tokens and the end of the run are respected',
  async t => {
    const forge = await startForge(t)
    const [run, other, ended] = await Promise.all([1, 2, 3].map(() => createRun(forge)))
    if (!run || !other || !ended) throw new Error('no runs')
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, '1']))
    const wrong: [body: object, loc: unknown[], type: string][] = [
      [{ captured_at: '2026-11-20T12:00:00' }, ['captured_at'], 'datetime_parsing'],
      [{ python: 3.11 }, ['python'], 'string_type'],
      [{ command: 'x'.repeat(65_537) }, ['command'], 'string_too_long'],
      [{ packages: ['torch'] }, ['packages'], 'dict_type'],
      [{ packages: { torch: 2 } }, ['packages', 'torch'], 'string_type'],
      [{ packages: many(5001) }, ['packages'], 'too_long'],
      [{ env: { A: 1 } }, ['env', 'A'], 'string_type'],
      [{ git: { dirty: 'yes' } }, ['git', 'dirty'], 'bool_type'],
      [{ git: { token: 'x' } }, ['git', 'token'], 'extra_forbidden'],
      [{ gpus: [{ index: -1 }] }, ['gpus', 0, 'index'], 'greater_than_equal'],
      [{ gpu_count: '1' }, ['gpu_count'], 'int_type'],
      [{ scheduler: 'slurm' }, ['scheduler'], 'dict_type'],
      [{ hostname: 'a\u0000' }, ['hostname'], 'value_error'],
      [{ what: 1 }, ['what'], 'extra_forbidden'],
    ]
    for (const [body, loc, type] of wrong) {
      const reply = await send(forge, run, body)
      t.is(reply.status, 422, JSON.stringify(loc))
      t.like(reply.body.detail[0], { loc: ['body', ...loc], type }, JSON.stringify(loc))
    }
    const wrongNode: [node: object, loc: unknown[], type: string][] = [
      [{}, ['node'], 'missing'],
      [{ node: '' }, ['node'], 'string_too_short'],
      [{ node: 'n', nvlink: 'some' }, ['nvlink'], 'literal_error'],
      [{ node: 'n', nics: [{ kind: 'tin' }] }, ['nics', 0, 'kind'], 'literal_error'],
      [{ node: 'n', numa_nodes: 0.5 }, ['numa_nodes'], 'int_type'],
    ]
    for (const [node, loc, type] of wrongNode) {
      const reply = await describe(forge, run, [n1, node])
      t.is(reply.status, 422, JSON.stringify(node))
      t.like(
        reply.body.detail[0],
        { loc: ['body', 'nodes', 1, ...loc], type },
        JSON.stringify(node),
      )
    }
    const nodes = (count: number) => Array.from({ length: count }, (_, n) => ({ node: `n${n}` }))
    t.like(await describe(forge, run, nodes(1000)), { status: 200, body: { nodes: 1000 } })
    t.like((await describe(forge, run, nodes(1001))).body.detail[0], {
      loc: ['body', 'nodes'],
      type: 'too_long',
    })
    t.is((await send(forge, run, { packages: many(5000) })).status, 200)
    t.is((await send(forge, run, { what: 'x'.repeat(256 * 1024) })).status, 413)
    for (const nodes of ['', '/nodes']) {
      const body = nodes === '' ? {} : { nodes: [] }
      t.is((await send(forge, { ...other, token: run.token }, body, nodes)).status, 403)
      t.is((await send(forge, { ...run, token: forge.token }, body, nodes)).status, 401)
    }
    await forge.pool.query(
      `update write.run_state set ended_at = now() - interval '16 minutes' where run_id = $1`,
      [ended.run_id],
    )
    t.is((await send(forge, ended, {})).status, 409)
    t.is((await describe(forge, ended, [])).status, 409)
  },
)
