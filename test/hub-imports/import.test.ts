import { createHash, randomBytes } from 'node:crypto'
import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import { begin, type Import, imported, untilEnded } from './importing.ts'
import { startSmallHub } from './small-hub.ts'

const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex')

async function scene(t: Parameters<typeof startForge>[0]) {
  const hub = await startSmallHub()
  t.teardown(hub.close)
  const forge = await startForge(t, {
    SERVICE_HUB_ENDPOINT: hub.url,
    SERVICE_ROLES: 'command-api,relay,projector,query-api',
  })
  return { hub, forge }
}

test('a model is imported at the commit that was asked for, resumed, and checked; refusals repeat the words of the hub', async t => {
  t.timeout(patient(300_000))
  const { hub, forge } = await scene(t)
  const weights = randomBytes(3_000_000)
  const files = { 'config.json': '{}', 'model.safetensors': weights, 'a/b/c.txt': 'x' }
  const commit = hub.commit('acme/cut', files)
  const at = (repo: string, commit: string, name: string) => `/${repo}/resolve/${commit}/${name}`

  // Cut twice: it continues where it stopped.
  const large = at('acme/cut', commit, 'model.safetensors')
  hub.cuts.set(large, [1_000_000, 1_000_000])
  const cut = await imported(forge, 'hub:acme/cut')
  t.like(cut, { state: 'ready', commit, license: 'apache-2.0', gated: false, bytes: 3_000_003 })
  t.is(cut.files.find(({ name }) => name === 'model.safetensors')?.sha256, sha256(weights))
  const asked = hub.requests.filter(one => one.startsWith(`GET ${large}`))
  const from = asked.map(one => Number(/bytes=(\d+)-$/.exec(one)?.[1] ?? 0))
  t.is(from.length, 3)
  t.true(Number(from[1]) > 500_000 && Number(from[2]) > Number(from[1]) + 500_000, String(from))

  // The same again is the same import.
  t.like((await begin(forge, 'hub:acme/cut')).body, { created: false, state: 'ready' })

  // The branch moves between the pin and the download.
  const before = hub.commit('acme/moves', { 'model.bin': randomBytes(5000) })
  const pinned = await begin(forge, 'hub:acme/moves')
  hub.commit('acme/moves', { 'model.bin': randomBytes(5000) })
  t.like(await untilEnded(forge, pinned.body.import_id), { state: 'ready', commit: before })

  // Other bytes than listed, at one go.
  const wrong = hub.commit('acme/wrong', { 'model.bin': randomBytes(5000) })
  hub.swapped.set(at('acme/wrong', wrong, 'model.bin'), randomBytes(5000))
  const failed = await imported(forge, 'hub:acme/wrong')
  t.regex(`${failed.state} ${failed.error}`, /^failed .*sent model\.bin with the SHA-256/)
  const small = hub.commit('acme/small', { 'config.json': '{"a": 1}' })
  hub.swapped.set(at('acme/small', small, 'config.json'), Buffer.from('{"a": 2}'))
  t.regex(String((await imported(forge, 'hub:acme/small')).error), /with the git id/)
  // With the right bytes, the import succeeds.
  hub.swapped.clear()
  t.like(await imported(forge, 'hub:acme/wrong'), { state: 'ready', error: null })

  // A redirect into the network of the server.
  const inward = hub.commit('acme/inward', { 'model.bin': randomBytes(5000) })
  hub.redirects.set(at('acme/inward', inward, 'model.bin'), 'http://169.254.169.254/latest')
  const refused = await begin(forge, 'hub:acme/inward')
  t.is(refused.status, 502)
  t.regex(refused.body.detail, /redirects to http:\/\/169\.254\.169\.254, which is not allowed/)

  const refusals = [
    ['hub:acme/none', 400, 'hub.repo_not_found', /Repository not found \(RepoNotFound\)/],
    ['hub:acme/cut@v9', 400, 'hub.revision_not_found', /Invalid rev id: v9/],
    ['acme/cut', 422, undefined, /hub:<org>\/<name>/],
    ['hub:acme/../cut', 422, undefined, /hub:<org>\/<name>/],
  ] as const
  for (const [ref, status, code, words] of refusals) {
    const answer = await begin(forge, ref)
    t.is(answer.status, status, ref)
    if (code !== undefined) t.is(answer.body.code, code)
    t.regex(JSON.stringify(answer.body.detail), words)
  }
  hub.close()
  const away = await begin(forge, 'hub:acme/cut')
  t.is(away.status, 502)
  t.regex(away.body.detail, /The model hub 127\.0\.0\.1:\d+ is not usable/)
})

test('a gated model is imported by their own token by people to whom the hub gives it, and is hidden from others', async t => {
  t.timeout(patient(300_000))
  const { hub, forge } = await scene(t)
  const weights = randomBytes(50_000)
  const token = 'hf_of_the_person_who_may'
  const commit = hub.commit('acme/gated', { 'model.bin': weights }, { token })
  const [may, other] = [await signedIn(forge, 'may'), await signedIn(forge, 'other')]
  const refused = await begin(forge, 'hub:acme/gated', may)
  t.is(refused.status, 400)
  t.is(refused.body.code, 'hub.gated')
  t.regex(refused.body.detail, /Access to model acme\/gated is restricted.*GatedRepo.*HF_TOKEN/)

  const set = (value: string, as: string) =>
    forge.call('PUT', '/api/secrets/HF_TOKEN', { body: { value }, token: as })
  await set(token, may)
  const own = await imported(forge, 'hub:acme/gated', may)
  t.like(own, { state: 'ready', gated: true, commit, owner: 'may' })

  await set('hf_of_somebody_else', other)
  const denied = await begin(forge, `hub:acme/gated@${commit}`, other)
  t.is(denied.body.code, 'hub.gated', 'what somebody else imported does not count')
  const path = `/api/hub-imports/${own.import_id}`
  for (const method of ['GET', 'DELETE'])
    t.is((await forge.call(method, path, { token: other })).status, 404, method)
  t.deepEqual((await forge.call('GET', '/api/hub-imports', { token: other })).body, [])
  t.is((await forge.call<Import[]>('GET', '/api/hub-imports')).body.length, 1, 'admins see it')

  // Another repository that lists the same digest does not have the file.
  const liar = hub.commit('evil/copy', { 'model.bin': weights })
  hub.swapped.set(`/evil/copy/resolve/${liar}/model.bin`, randomBytes(50_000))
  t.like(await imported(forge, 'hub:evil/copy', other), { state: 'failed' })

  // Granted, the same files are not sent again.
  await set(token, other)
  const before = hub.requests.length
  t.like(await imported(forge, 'hub:acme/gated', other), { state: 'ready', bytes_done: 50_000 })
  t.false(hub.requests.slice(before).some(one => one.startsWith('GET /acme/gated/resolve')))
  const { rows } = await forge.pool.query(
    `select data from write.event where stream like 'hub_import-%'`,
  )
  t.false(JSON.stringify(rows).includes('hf_of'), 'no token is in an event')
})

test('an import can be cancelled, and leaves no files', async t => {
  t.timeout(patient(200_000))
  const { hub, forge } = await scene(t)
  const commit = hub.commit('acme/slow', { 'a.txt': 'first', 'model.bin': randomBytes(300_000) })
  const path = `/acme/slow/resolve/${commit}/model.bin`
  hub.stalls.set(path, 100_000)
  const { body } = await begin(forge, 'hub:acme/slow')
  const at = `/api/hub-imports/${body.import_id}`
  await until('it is being downloaded', 30_000, () =>
    hub.requests.some(one => one.startsWith(`GET ${path}`)),
  )
  const listed = await until('it is listed', 30_000, async () => {
    const { body: one } = await forge.call<Import>('GET', at)
    return one.state === 'downloading' && one
  })
  t.is(listed.bytes, 300_005)
  t.is((await forge.call('DELETE', at)).status, 200)
  t.is((await forge.call('GET', at)).status, 404)
  await until('the work has ended', 60_000, async () => {
    const { rowCount } = await forge.pool.query(
      `select from write.duty where reactor = 'import-models' and done_at is null`,
    )
    return rowCount === 0
  })
  t.is((await forge.pool.query('select from write.hub_file')).rowCount, 0)
})
