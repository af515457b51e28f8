import { createHash } from 'node:crypto'
import test from 'ava'
import { startSmallHub } from '../hub-imports/small-hub.ts'
import { commandLine } from '../servers/command-line.ts'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import { exported, push, pushOf, setToken, untilOver, weights } from './pushing.ts'

const roles = 'command-api,relay,projector,query-api'

test('an export is sent with a card, once; refusals repeat the words of the hub; only its owner sees it', async t => {
  t.timeout(patient(240_000))
  const hub = await startSmallHub()
  t.teardown(hub.close)
  hub.writes.people.set('hf_ada', 'ada')
  const forge = await startForge(t, { SERVICE_HUB_ENDPOINT: hub.url, SERVICE_ROLES: roles })
  const model = weights()
  const files = {
    'config.json': '{}',
    'sub/model.safetensors': model,
    'README.md': '---\nlicense: mit\n---\nWords of its own.\n',
  }
  const { artifact_id, run } = await exported(forge, files, { metrics: { 'val/loss': 0.25 } })
  const asked = { artifact_id, repo: 'acme/tutor' }

  const without = await push(forge, asked)
  t.deepEqual([without.status, without.body.code], [400, 'hub.no_token'])
  await setToken(forge, 'hf_wrong')
  t.regex((await push(forge, asked)).body.detail, /Invalid username or password/)
  await setToken(forge, 'hf_ada')
  t.regex((await push(forge, { ...asked, repo: 'other/tutor' })).body.detail, /no member of other/)
  for (const repo of ['acme', 'acme/a@b', 'acme/..x', '/acme/x'])
    t.is((await push(forge, { ...asked, repo })).body.code, 'hub.repo', repo)
  const checkpoint = await exported(forge, files, { kind: 'checkpoint' })
  const other = await push(forge, { ...asked, artifact_id: checkpoint.artifact_id })
  t.regex(other.body.detail, /is of kind checkpoint/)

  const begun = await push(forge, asked)
  t.is(begun.status, 200, JSON.stringify(begun.body))
  const { push_id } = begun.body
  const sent = await untilOver(forge, push_id)
  t.like(sent, { state: 'sent', error: null, file_count: 3, url: `${hub.url}/acme/tutor` })
  t.is(sent.bytes, sent.bytes_done)
  const { 'README.md': card = '', ...there } = hub.filesOf('acme/tutor') ?? {}
  t.deepEqual(there, {
    'config.json': Buffer.from('{}'),
    'sub/model.safetensors': model,
  })
  t.is(card.toString(), sent.card)
  for (const part of ['tags:', artifact_id, '| `val/loss` | 0.25 |', 'Words of its own.'])
    t.true(sent.card.includes(part), `${part} in ${sent.card}`)
  t.false(sent.card.includes('license: mit'))

  // The same again: the hub has it, so that nothing is sent or committed.
  const { run: cli } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const again = await cli(['hub', 'push', artifact_id, 'acme/tutor', '--wait'])
  t.is(again.code, 0, again.stderr)
  t.true(again.stdout.includes(`acme/tutor  sent@${sent.commit}`), again.stdout)
  t.regex((await cli(['hub', 'pushes'])).stdout, /acme\/tutor +art_\w+ +sent/)
  t.is(hub.writes.commits.length, 1)
  t.is(hub.writes.arrived.length, 1)

  // Others see nothing of it, and cannot send hidden artifacts.
  const token = await signedIn(forge, 'other')
  await setToken(forge, 'hf_ada', token)
  for (const method of ['GET', 'DELETE'])
    t.is((await forge.call(method, `/api/hub-pushes/${push_id}`, { token })).status, 404)
  t.deepEqual((await forge.call<object[]>('GET', '/api/hub-pushes', { token })).body, [])
  t.regex((await push(forge, asked, token)).body.detail, /No such artifact/)

  // A stopped push leaves no commit.
  const large = weights()
  const second = await exported(forge, { 'model.bin': large })
  hub.writes.stalls.add(createHash('sha256').update(large).digest('hex'))
  const stalled = await push(forge, { artifact_id: second.artifact_id, repo: 'acme/stopped' })
  await until('it is being sent', 60_000, () =>
    hub.requests.some(one => one.startsWith('PUT /put')),
  )
  const stop = () => forge.call('DELETE', `/api/hub-pushes/${stalled.body.push_id}`)
  t.like((await stop()).body, { state: 'cancelled', changed: true })
  t.like((await stop()).body, { state: 'cancelled', changed: false })
  t.is((await pushOf(forge, stalled.body.push_id)).state, 'cancelled')
  t.is(hub.writes.commits.length, 1)
  t.truthy(run.run_id)
})
