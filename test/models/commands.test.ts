import test from 'ava'
import type { Artifact } from '../../schemas/artifacts/artifacts.ts'
import { commandLine } from '../servers/command-line.ts'
import { sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { ingest } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import { twoVersions } from './two-versions.ts'

const shared = sharedForge({ SERVICE_ROLES: 'command-api,relay,projector,query-api' })

type Move = { at: string; actor: string; from: number | null; to: number | null; reason: string }

test('versions show their artifacts, and the state of these', async t => {
  t.timeout(patient(60_000))
  const forge = await shared()
  const { path, ids, run } = await twoVersions(forge, 'shown')
  const { body } = await forge.call<object[]>('GET', `${path}/versions`)
  t.like(body, [
    { version: 2, state: 'pending', source: { artifact_id: ids[1] } },
    { version: 1, state: 'ready', metrics: { reward: 0.5 }, format: 'safetensors' },
  ])
  const one = await forge.call('GET', `${path}/versions/1`)
  t.like(one.body, { run: { run_id: run.run_id }, artifact: { kind: 'checkpoint' } })
  t.is((await forge.call('GET', `${path}/versions/3`)).status, 404)
  const again = await forge.call('POST', `${path}/versions`, { body: { artifact_id: ids[0] } })
  t.is(again.status, 409)
  t.is(again.body.code, 'model.version_exists')
  await forge.call('PATCH', `${path}/versions/2`, { body: { archived: true } })
  t.is((await forge.call('GET', `${path}/versions/2`)).body.state, 'archived')
  const elsewhere = await twoVersions(forge, 'elsewhere')
  const foreign = await forge.call('POST', `${path}/versions`, {
    body: { artifact_id: elsewhere.ids[0] },
  })
  t.is(foreign.status, 400)
})

test('the history of an alias shows who moved it when and why, and its version at the time', async t => {
  t.timeout(patient(60_000))
  const forge = await shared()
  const { path, put } = await twoVersions(forge, 'moved')
  await put('production', { version: 1, reason: 'first' })
  await put('production', { version: 2, reason: 'better' })
  await forge.call('DELETE', `${path}/aliases/production?reason=broken&expected_version=2`)
  const history = `${path}/aliases/production/history`
  const { body: moves } = await forge.call<Move[]>('GET', history)
  t.deepEqual(
    moves.map(({ actor, from, to, reason }) => [actor, from, to, reason]),
    [
      ['admin', 2, null, 'broken'],
      ['admin', 1, 2, 'better'],
      ['admin', null, 1, 'first'],
    ],
  )
  const at = (time: string) =>
    forge.call<Move[]>('GET', `${history}?at=${encodeURIComponent(time)}`)
  t.deepEqual((await at('2001-01-01T00:00:00Z')).body, [])
  t.like((await at('2101-01-01T00:00:00Z')).body, [{ to: null, reason: 'broken' }])
  t.is((await at('yesterday')).status, 422)
})

test('one of two moves that expect the same version wins', async t => {
  t.timeout(patient(60_000))
  const forge = await shared()
  const { put } = await twoVersions(forge, 'raced')
  await put('stable', { version: 1 })
  await put('canary', { version: 1 })
  await forge.call('DELETE', '/api/models/raced/aliases/canary')
  const both = await Promise.all(
    [2, 2, 2].map((version, index) =>
      put('stable', { version, expected_version: 1, reason: `${index}` }),
    ),
  )
  t.deepEqual(both.map(({ status }) => status).sort(), [200, 409, 409])
})

test('protected aliases are moved by maintainers, others by members, none by viewers and strangers', async t => {
  t.timeout(patient(60_000))
  const forge = await shared()
  const { path, put, project } = await twoVersions(forge, 'guarded')
  const statuses = async (role: string | null) => {
    const username = `${role ?? 'stranger'}-of-guarded`
    const token = await signedIn(forge, username)
    const read = async () => (await forge.call('GET', path, { token })).status
    if (role !== null) {
      await forge.call('PUT', `/api/projects/${project}/members/${username}`, { body: { role } })
      await until('the member sees it', 20_000, async () => (await read()) === 200)
    }
    return [
      await read(),
      (await put('stable', { version: 1 }, token)).status,
      (await put('production', { version: 1 }, token)).status,
      (await forge.call('PATCH', path, { token, body: { protected_aliases: [] } })).status,
    ]
  }
  t.deepEqual(await statuses(null), [404, 404, 404, 404])
  t.deepEqual(await statuses('viewer'), [200, 403, 403, 403])
  t.deepEqual(await statuses('member'), [200, 200, 403, 403])
  t.deepEqual(await statuses('maintainer'), [200, 200, 200, 200])
})

test('a protected alias moves to no version that a benchmark finds worse, unless a maintainer overrides it', async t => {
  t.timeout(patient(90_000))
  const forge = await shared()
  const { path, put, project, run, ids } = await twoVersions(forge, 'scored')
  const measure = (artifact_id: string, value: number, benchmark = 'scored-sums') =>
    ingest(forge, run, 'benchmark', {
      ...{ benchmark, version: '1', artifact_id },
      scores: [{ metric: 'exact_match', value, stderr: 0.02, n: 100 }],
    })
  const definition = { metric: 'exact_match' }
  await forge.call('PUT', '/api/benchmarks/scored-sums', { body: definition })
  await measure(ids[0], 0.7)
  await measure(ids[0], 0.9, 'in-no-catalogue')
  await measure(ids[1], 0.1, 'in-no-catalogue')
  const production = (body: object, token?: string) => put('production', body, token)
  t.is((await production({ version: 1 })).status, 200)
  t.is((await production({ version: 2 })).status, 200, 'it has no score')
  t.is((await production({ version: 1 })).status, 200, 'nor can anything be worse than none')

  await measure(ids[1], 0.6)
  const refused = await production({ version: 2 })
  t.is(refused.status, 409)
  t.like(refused.body, {
    code: 'model.benchmark_gate',
    data: { failed: [{ benchmark: 'scored-sums@1', from: 0.7, to: 0.6, delta: -0.1 }] },
  })
  t.regex(refused.body.detail, /version 2 as production: .* -0\.1 is worse by more than/)
  await put('stable', { version: 1 })
  t.is((await put('stable', { version: 2 })).status, 200, 'it is not protected')

  const maintainer = await signedIn(forge, 'maintainer-of-scored')
  const member = await signedIn(forge, 'member-of-scored')
  for (const role of ['maintainer', 'member'])
    await forge.call('PUT', `/api/projects/${project}/members/${role}-of-scored`, {
      body: { role },
    })
  const override = { version: 2, override_gates: true }
  t.is((await production(override, maintainer)).body.code, 'model.override_reason')
  t.is((await production({ ...override, reason: 'x' }, member)).body.code, 'model.gates')
  const { run: forgeCli } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: maintainer })
  const move = ['model', 'alias', 'scored', 'production', '2']
  t.regex((await forgeCli(move)).stderr, /-0\.1 is worse by more than one standard error/)
  const moved = await forgeCli([...move, '--override-gates', '-m', 'the old one is unsafe'])
  t.regex(moved.stdout, /scored@production is version 2/, moved.stderr)
  const [newest] = await until('the move can be read', 20_000, async () => {
    const { body } = await forge.call<(Move & { overridden: string[] })[]>(
      'GET',
      `${path}/aliases/production/history`,
    )
    return body[0]?.actor === 'maintainer-of-scored' && body
  })
  t.like(newest, {
    reason: 'the old one is unsafe',
    overridden: ['scored-sums@1: worse by more than one standard error'],
  })
  t.is((await production({ version: 1 })).status, 200, 'back to the better one')
})

test('the artifact of a version is not deleted before its model', async t => {
  t.timeout(patient(60_000))
  const forge = await shared()
  const { path, put, ids } = await twoVersions(forge, 'kept')
  const remove = () => forge.call('DELETE', `/api/artifacts/${ids[0]}`)
  const refused = await remove()
  t.is(refused.status, 409)
  t.regex(String(refused.body.detail), /kept@1/)
  await forge.call('GET', path)
  const { body } = await forge.call<Artifact>('GET', `/api/artifacts/${ids[0]}`)
  t.deepEqual(body.protected_by, [{ type: 'model', id: 'kept@1' }])
  await put('stable', { version: 1 })
  t.is((await forge.call('DELETE', path)).status, 409, 'it has an alias')
  await forge.call('DELETE', `${path}/aliases/stable`)
  t.is((await forge.call('DELETE', path)).status, 200)
  t.is((await forge.call('GET', path)).status, 404)
  t.is((await remove()).status, 200)
})

test('a deployment names a version by an alias, which is resolved once', async t => {
  t.timeout(patient(60_000))
  const forge = await shared()
  const { put, ids, project } = await twoVersions(forge, 'served')
  await put('stable', { version: 1 })
  const deploy = (model: string) =>
    forge.call('POST', '/api/deployments', {
      body: { name: 'of-model', project, source: { kind: 'model', model } },
    })
  for (const wrong of ['served', 'served@nothing', 'served@9', 'unknown@1'])
    t.is((await deploy(wrong)).body.code, 'model.reference', wrong)
  const made = await deploy('served@stable')
  t.not(made.body.code, 'model.reference', JSON.stringify(made.body))
  if (made.status !== 200) return
  const { body } = await forge.call<{ source: object }[]>(
    'GET',
    `/api/deployments/${made.body.deployment_id}/revisions`,
  )
  t.like(body[0]?.source, { artifact_id: ids[0], model: 'served@1' })
})

test('a version shows where it is served, and its usage', async t => {
  t.timeout(patient(60_000))
  const forge = await shared()
  const { path, project, ids, run } = await twoVersions(forge, 'used')
  // Written as projections do; engines of Forge would need a servable model.
  await forge.pool.query(
    `insert into read.deployments (deployment_id, name, owner, project, state, promoted_revision_id, min_replicas,
       max_replicas, max_body_bytes, timeout_s, max_concurrency, created_at, updated_at)
     values ('dep_used', 'used', 'admin', $1, 'ready', 'rev_used', 1, 1, 1024, 10, 10, now(), now())`,
    [project],
  )
  const source = { kind: 'artifact', artifact_id: ids[0], run_id: run.run_id }
  await forge.pool.query(
    `insert into read.deployment_revisions (revision_id, deployment_id, number, state, source, serving, checks, created_by, created_at)
     values ('rev_used', 'dep_used', 1, 'ready', $1, '{}', '[]', 'admin', now())`,
    [JSON.stringify(source)],
  )
  for (const day of ['2026-11-20', '2026-11-21'])
    await forge.pool.query(
      `insert into read.traffic_daily values ('dep_used', $1, 'dtk_1', 'rev_used', 3, 1, 0, 10, 20, 0, 0, now())`,
      [day],
    )
  const { body } = await forge.call<{ deployments: object[] }>('GET', `${path}/versions/1`)
  t.deepEqual(body.deployments, [
    {
      ...{ deployment_id: 'dep_used', name: 'used', revision_id: 'rev_used', is_promoted: true },
      ...{ state: 'ready', requests: 6, errors: 2, prompt_tokens: 20, completion_tokens: 40 },
    },
  ])
})

test('an artifact that a deployment serves is shown as protected, until the revision is retired', async t => {
  t.timeout(patient(60_000))
  const forge = await shared()
  const { project, ids, run } = await twoVersions(forge, 'engaged')
  // As projections write it; engines of Forge would need a model that can be served.
  await forge.pool.query(
    `insert into read.deployments (deployment_id, name, owner, project, state, min_replicas,
       max_replicas, max_body_bytes, timeout_s, max_concurrency, created_at, updated_at)
     values ('dep_engaged', 'serves-it', 'admin', $1, 'ready', 1, 1, 1024, 10, 10, now(), now())`,
    [project],
  )
  const source = { kind: 'artifact', artifact_id: ids[0], run_id: run.run_id }
  await forge.pool.query(
    `insert into read.deployment_revisions (revision_id, deployment_id, number, state, source, serving, checks, created_by, created_at)
     select 'rev_engaged_' || n, 'dep_engaged', n, 'ready', $1, '{}', '[]', 'admin', now() from generate_series(1, 2) n`,
    [JSON.stringify(source)],
  )
  const protectors = async () => {
    const { body } = await forge.call<Artifact>('GET', `/api/artifacts/${ids[0]}`)
    return body.protected_by
  }
  const version = { type: 'model', id: 'engaged@1' }
  t.deepEqual(await protectors(), [{ type: 'deployment', id: 'serves-it' }, version])
  await forge.pool.query(
    `update read.deployment_revisions set state = 'retired' where deployment_id = 'dep_engaged'`,
  )
  t.deepEqual(await protectors(), [version])
})
