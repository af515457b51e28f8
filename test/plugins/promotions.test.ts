import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { deployed } from '../gateway/deployed.ts'
import { startEngine } from '../servers/engine.ts'
import { sharedForge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'
import { isSigned, json, startSmallPlugin } from './small-plugin.ts'

const folder = await mkdtemp(join(tmpdir(), 'promotions-'))
const plugin = await startSmallPlugin(folder)
const shared = sharedForge({
  SERVICE_OUTGOING_HOSTS: 'localhost',
  SERVICE_OUTGOING_CA_FILE: plugin.caFile,
})
test.after.always('the plugin ends', async () => {
  plugin.close()
  await rm(folder, { recursive: true })
})

type Reply = { detail: string; code: string; gate: string; promoted_revision_id: string }
type Revision = { revision_id: string; state: string; state_reason: string | null }

test('a plugin refuses promotions by people, rollbacks to other revisions and promotions of themselves', async t => {
  const forge = await shared()
  const engine = await startEngine(t)
  const { path, revisions } = await deployed(forge, 'guarded', [engine.url, engine.url])
  const [serving = '', candidate = ''] = revisions
  const url = plugin.url('/promote')
  const set = (mode: string) =>
    forge.call<{ secret: string }>('PUT', '/api/admin/plugins/release', {
      body: { url, hooks: ['deployment.promote'], mode },
    })
  plugin.on('/promote', json({ allow: false, reason: 'not on Fridays' }))
  const { body: made } = await set('fail_closed')
  const { body: shown } = await forge.call<Reply>('GET', path)
  const other = shown.promoted_revision_id === serving ? candidate : serving
  const promote = () => forge.call<Reply>('POST', `${path}/revisions/${other}/promote`)
  const refused = await promote()
  t.is(refused.status, 409)
  t.like(refused.body, { code: 'plugin.refused', gate: 'plugin:release' })
  t.is(refused.body.detail, 'The plugin release refuses the promotion: not on Fridays')
  const [first] = plugin.received
  t.true(first && isSigned(first, made.secret))
  t.like(first?.data, { revision_id: other, by: 'admin', is_automatic: false, name: 'guarded' })

  // A revision to be promoted once it is ready stays ready.
  const { body: third } = await forge.call<Revision>('POST', `${path}/revisions`, {
    body: { source: { kind: 'external', url: engine.url }, promote: true },
  })
  const stays = await until('the revision is ready', 60_000, async () => {
    const { body } = await forge.call<Revision[]>('GET', `${path}/revisions`)
    return body.find(one => one.revision_id === third.revision_id && one.state === 'ready')
  })
  t.is(stays.state_reason, 'The plugin release refuses the promotion: not on Fridays')
  t.true(plugin.received.some(({ data }) => data.is_automatic === true))
  const back = await forge.call<Reply>('POST', `${path}/rollback`, {
    body: { to: third.revision_id },
  })
  t.like(back, { status: 409, body: { code: 'plugin.refused' } })

  // Without a usable answer its mode decides.
  plugin.on('/promote', response => response.writeHead(500).end())
  t.is((await promote()).status, 409)
  await set('fail_open')
  t.is((await promote()).status, 200)
})
