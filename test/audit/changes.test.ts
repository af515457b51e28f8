import test from 'ava'
import { describeExecutor, setProfile } from '../../command-api/profiles/decide.ts'
import type { ProfileFacts } from '../../events/profiles.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { createRun } from '../servers/runs.ts'
import { until } from '../servers/until.ts'

type Left = { stream: string; type: string; data: object; meta: { actor: object } }

/** Changes something under this request id and returns the resulting events. */
async function eventsOf(
  forge: Forge,
  requestId: string,
  change: [method: string, path: string, body?: unknown],
): Promise<Left[]> {
  const [method, path, body] = change
  const { status } = await forge.call(method, path, {
    ...(body !== undefined && { body }),
    headers: { 'x-request-id': requestId },
  })
  if (status !== 200) throw new Error(`${method} ${path} answered ${status}`)
  const { rows } = await forge.pool.query<Left>(
    `select stream, type, data, meta from write.event where meta->>'request_id' = $1 order by position`,
    [requestId],
  )
  return rows
}

const byAdmin = { actor: { type: 'user', id: 'admin', via: 'password' } }

test('changes of hardware, registries and run tokens, and rebuilds, record who made them and with which credential', async t => {
  const forge = await startForge(t, { SERVICE_ROLES: 'command-api,relay,projector,query-api' })
  const run = await createRun(forge)
  const hardware = { series: 'H100', gpus_per_node: 8, executor: 'slurm', price_per_gpu_hour: '2' }
  const changes: [id: string, stream: string, type: string, Parameters<typeof eventsOf>[2]][] = [
    ['profile-1', 'profile-h100', 'profile.set', ['PUT', '/api/admin/profiles/h100', hardware]],
    [
      'registries-1',
      'image_registries-all',
      'image_registries.set',
      ['PUT', '/api/admin/image-registries', { registries: ['b.example', 'a.example/x'] }],
    ],
    [
      'token-of-run-1',
      `run-${run.run_id}`,
      'run.token_issued',
      ['POST', `/api/runs/${run.run_id}/token`],
    ],
    [
      'rebuild-1',
      'projection-all',
      'projection.rebuild_requested',
      ['POST', '/api/admin/projections/all/rebuild'],
    ],
  ]
  for (const [id, stream, type, change] of changes) {
    const left = await eventsOf(forge, id, change)
    t.is(left.length, 1, id)
    t.like(left[0], { stream, type, meta: { ...byAdmin, request_id: id } }, id)
  }
  const { body } = await forge.call('GET', '/api/admin/image-registries')
  t.deepEqual(body, { registries: ['a.example/x', 'b.example'] })
  await until('the rebuild has ended', 30_000, async () => {
    const { body: all } = await forge.call<{ rebuild: { state: string } }>(
      'GET',
      '/api/admin/projections',
    )
    return all.rebuild.state === 'succeeded'
  })
})

test('repeating a change appends no event', async t => {
  const forge = await startForge(t, { SERVICE_ROLES: 'command-api,relay,projector,query-api' })
  const hardware = { series: 'H100', gpus_per_node: 8, executor: 'slurm' }
  const registries = { registries: ['a.example', 'b.example'] }
  t.is((await eventsOf(forge, 'first-set', ['PUT', '/api/admin/profiles/x', hardware])).length, 1)
  t.is((await eventsOf(forge, 'again-set', ['PUT', '/api/admin/profiles/x', hardware])).length, 0)
  const put = (id: string, list: readonly string[]) =>
    eventsOf(forge, id, ['PUT', '/api/admin/image-registries', { registries: list }])
  t.is((await put('first-put', registries.registries)).length, 1)
  t.is((await put('again-put', registries.registries.toReversed())).length, 0)
  t.is((await put('empty-put', [])).length, 1)
})

test('an executor records its hardware once and leaves the price to the admin', t => {
  const hardware = { executor: 'local', gpus_per_node: 2, max_nodes: 1, series: 'A100' }
  const found = describeExecutor(null, hardware)
  t.like(found, [{ type: 'profile.set', data: { name: 'local', gpus_per_node: 2 } }])
  const described = found[0]?.data as ProfileFacts
  t.deepEqual(describeExecutor(described, hardware), [])
  const priced = setProfile(described, { ...described, price_per_gpu_hour: '1.5' })[0]?.data ?? null
  t.like(describeExecutor(priced, { ...hardware, gpus_per_node: 4 }), [
    { data: { gpus_per_node: 4, price_per_gpu_hour: '1.5' } },
  ])
})
