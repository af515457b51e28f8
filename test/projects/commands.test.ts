import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { signedIn } from '../servers/signed-in.ts'
import { onePerRole, project, shown } from './one-per-role.ts'

const path = `/api/projects/${project}`

test('changes of settings and members are visible at once to the person who made them', async t => {
  const { forge, tokens } = await onePerRole(t)
  const as = { token: tokens.owner }
  t.like((await forge.call('PATCH', path, { ...as, body: { notes: 'sums 数' } })).body, {
    name: project,
    owner: 'owner',
    visibility: 'private',
    notes: 'sums 数',
    changed: true,
  })
  t.like((await forge.call('GET', path, as)).body, { notes: 'sums 数', my_role: 'owner', runs: 2 })
  for (const role of ['viewer', 'member', 'maintainer', 'viewer'])
    for (const changed of [true, false]) {
      const at = `${path}/members/guest`
      const answer = await forge.call('PUT', at, { ...as, body: { role } })
      t.like(answer.body, { project, username: 'guest', role, changed })
      t.truthy(answer.headers.get('forge-position'))
      await shown(forge, tokens.owner)
      const seen = { token: tokens.guest }
      t.like((await forge.call('GET', path, seen)).body, { my_role: role })
    }
  t.like((await forge.call('DELETE', `${path}/members/guest`, as)).body, { removed: true })
  t.is((await forge.call('DELETE', `${path}/members/guest`, as)).status, 404)
})

test('a member must be allowed to sign in, and the owner stays the owner', async t => {
  const { forge, tokens } = await onePerRole(t)
  const put = (username: string) =>
    forge.call('PUT', `${path}/members/${username}`, {
      token: tokens.owner,
      body: { role: 'member' },
    })
  await forge.pool.query(`update auth.person set disabled = true where username = 'guest'`)
  for (const username of ['nobody', 'guest']) {
    const { status, body } = await put(username)
    t.is(status, 400)
    t.is(String(body.detail), `There is no enabled user ${username}`)
  }
  t.is((await put('stranger')).status, 200)
  t.is((await forge.call('DELETE', `${path}/members/owner`)).status, 409)
  const lesser = await forge.call('PUT', `${path}/members/owner`, { body: { role: 'viewer' } })
  t.is(lesser.status, 409)
})

test('a change records its actor and request; an invalid value is 422 at its field', async t => {
  const { forge, tokens } = await onePerRole(t)
  const refused: [method: string, at: string, body: object, field: string][] = [
    ['PATCH', path, { visibility: 'public' }, 'visibility'],
    ['PATCH', path, { owner: 'admin' }, 'owner'],
    ['PATCH', path, { notes: 'x'.repeat(10_001) }, 'notes'],
    ['PUT', `${path}/members/guest`, { role: 'owner' }, 'role'],
    ['PUT', `${path}/members/guest`, {}, 'role'],
  ]
  for (const [method, at, body, field] of refused) {
    const answer = await forge.call<{ detail: { loc: string[] }[] }>(method, at, { body })
    t.is(answer.status, 422)
    t.deepEqual(answer.body.detail[0]?.loc, ['body', field])
  }
  const requestId = 'change-of-visibility'
  await forge.call('PATCH', path, {
    token: tokens.maintainer,
    body: { visibility: 'internal' },
    headers: { 'x-request-id': requestId },
  })
  const { rows } = await forge.pool.query(
    `select type, meta -> 'actor' ->> 'id' as by, meta ->> 'request_id' as request_id
       from write.event where stream = 'project-demo' order by stream_version desc limit 1`,
  )
  t.deepEqual(rows, [{ type: 'project.changed', by: 'maintainer', request_id: requestId }])
})

for (const visibility of ['private', 'internal'])
  test(`a new project is ${visibility} if the installation's default is`, async t => {
    const forge = await startForge(t, { SERVICE_DEFAULT_VISIBILITY: visibility })
    const [alice, bob] = [await signedIn(forge, 'alice'), await signedIn(forge, 'bob')]
    const run = { token: alice, body: { project: 'new' } }
    await forge.call('POST', '/api/runs', run)
    const own = await forge.call('GET', '/api/projects/new', { token: alice })
    t.like(own.body, { visibility })
    const others = await forge.call('GET', '/api/projects/new', { token: bob })
    t.is(others.status, visibility === 'internal' ? 200 : 404)
  })
