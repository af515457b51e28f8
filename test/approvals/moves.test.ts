import test from 'ava'
import type { ApprovalDetail } from '../../schemas/approvals.ts'
import { deployed } from '../gateway/deployed.ts'
import { twoVersions } from '../models/two-versions.ts'
import { commandLine } from '../servers/command-line.ts'
import { startEngine } from '../servers/engine.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { signedIn } from '../servers/signed-in.ts'
import { settled } from '../usage/jobs-at-times.ts'

const shared = sharedForge()

type Refused = { code: string; data: { approval_ids: string[] } }

const idOf = ({ status, body }: { status: number; body: Refused }): string => {
  const [id] = body.data?.approval_ids ?? []
  if (status !== 409 || body.code !== 'approval.required' || !id)
    throw new Error(JSON.stringify(body))
  return id
}

const decide = (forge: Forge, id: string, decision: string, token: string) =>
  forge.call<{ code: string }>('POST', `/api/approvals/${id}/decide`, { token, body: { decision } })

test('a protected alias moves once somebody else approves exactly this move', async t => {
  const forge = await shared()
  const bob = await signedIn(forge, 'bob')
  const { put, path } = await twoVersions(forge, 'guarded')
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const set = 'admin approval-rule set prod protected_alias --names prod --who operator'
  t.is((await run(set.split(' '))).code, 0)
  const move = async (version: number) => (await put('prod', { version })) as unknown as never
  const id = idOf(await move(1))
  t.is(idOf(await move(1)), id, 'asked once')
  await settled(forge)
  const { body: shown } = await forge.call<ApprovalDetail>('GET', `/api/approvals/${id}`)
  t.like(shown.content, { model: 'guarded', alias: 'prod', from: null, to: { version: 1 } })
  t.is((await decide(forge, id, 'approved', forge.token)).body.code, 'approval.own')
  const asBob = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: bob })
  t.regex((await asBob.run(['approve', 'ls'])).stdout, /version 1 as guarded@prod/)
  t.regex((await asBob.run(['approve', 'show', id])).stdout, /"alias":"prod"|"alias": "prod"/)
  t.is((await asBob.run(['approve', 'yes', id])).code, 0)
  await settled(forge)
  const history = `${path}/aliases/prod/history`
  t.like((await forge.call<object[]>('GET', history)).body, [{ to: 1, actor: 'bob' }])
  t.is((await put('prod', { version: 1 })).status, 200, 'it names this version already')
  const other = await put('candidate', { version: 1 })
  t.is(other.status, 200, 'no rule is about this alias')
})

test('an approval of a move is void once the alias names something else', async t => {
  const forge = await shared()
  const eve = await signedIn(forge, 'eve')
  const { put, path } = await twoVersions(forge, 'moving')
  const rule = (who: string) => ({
    when: { on: 'protected_alias', names: ['live'] },
    who: { role: who },
  })
  t.is((await put('live', { version: 1 })).status, 200)
  await forge.call('PUT', '/api/approval-rules/live', { body: rule('operator') })
  await forge.call('POST', `${path}/versions`, { body: {} })
  await forge.call('DELETE', `${path}/aliases/live`)
  const id = idOf((await put('live', { version: 1 })) as never)
  await forge.call('DELETE', '/api/approval-rules/live')
  t.is((await put('live', { version: 1 })).status, 200)
  const late = await decide(forge, id, 'approved', eve)
  t.is(late.status, 409)
  t.is(late.body.code, 'approval.voided')
})

test('a revision is promoted once somebody else approves it', async t => {
  const forge = await shared()
  const dora = await signedIn(forge, 'dora')
  const engine = await startEngine(t)
  const { path, revisions } = await deployed(forge, 'careful', [engine.url, engine.url])
  const [, second = ''] = revisions
  const promote = () => forge.call<Refused>('POST', `${path}/revisions/${second}/promote`)
  const promoted = async () =>
    (await forge.call<{ promoted_revision_id: string }>('GET', path)).body.promoted_revision_id
  await forge.call('PUT', '/api/approval-rules/promotions', {
    body: { when: { on: 'promotion' }, who: { role: 'operator' } },
  })
  const id = idOf(await promote())
  t.not(await promoted(), second)
  t.is((await decide(forge, id, 'approved', dora)).status, 200)
  await settled(forge)
  t.is(await promoted(), second)
  t.is((await promote()).status, 200, 'it is promoted already')
})

test('a team decides, except its viewers; to others the approval looks missing', async t => {
  const forge = await shared()
  const people = await Promise.all(['tess', 'vera', 'olaf'].map(name => signedIn(forge, name)))
  const [tess = '', vera = '', olaf = ''] = people
  await forge.call('POST', '/api/teams', { body: { name: 'guards' } })
  for (const [name, role] of Object.entries({ tess: 'member', vera: 'viewer' }))
    await forge.call('PUT', `/api/teams/guards/members/${name}`, { body: { role } })
  const rule = (team: string) =>
    forge.call('PUT', '/api/approval-rules/teams', {
      body: { when: { on: 'protected_alias', names: ['watched'] }, who: { team } },
    })
  t.is((await rule('nobody')).status, 422)
  t.is((await rule('guards')).status, 200)
  const { put } = await twoVersions(forge, 'watched')
  const id = idOf((await put('watched', { version: 1 })) as never)
  await settled(forge)
  const seen = async (token: string) =>
    (await forge.call('GET', `/api/approvals/${id}`, { token })).status
  t.deepEqual([await seen(tess), await seen(vera), await seen(olaf)], [200, 200, 404])
  t.is((await decide(forge, id, 'approved', vera)).status, 403)
  t.is((await decide(forge, id, 'approved', olaf)).status, 404)
  t.is((await decide(forge, id, 'approved', tess)).status, 200)
})
