import test from 'ava'
import { patient } from '../servers/patience.ts'
import { createRun } from '../servers/runs.ts'
import { until } from '../servers/until.ts'
import { type OnePerRole, onePerRole, roles, type Who } from './one-per-role.ts'

type Expected = Record<Who, number>
const everyMember = {
  owner: 200,
  maintainer: 200,
  member: 200,
  viewer: 200,
  stranger: 404,
  admin: 200,
}
const ownersOnly = {
  owner: 200,
  maintainer: 403,
  member: 403,
  viewer: 403,
  stranger: 404,
  admin: 200,
}
const managers = { ...ownersOnly, maintainer: 200 }
const adminsOnly = { ...ownersOnly, owner: 403 }
/** Routes for admins refuse everybody else before they look at the team. */
const administration = { ...adminsOnly, stranger: 403 }

type Asked = [method: string, path: string, body: object | undefined, expected: Expected]

/** Every route on a team, by role. */
const asked = (team: string): Asked[] => {
  const path = `/api/teams/${team}`
  return [
    ['GET', path, undefined, everyMember],
    ['GET', `${path}/members`, undefined, everyMember],
    ['GET', `${path}/projects`, undefined, everyMember],
    ['PATCH', path, { description: 'x' }, ownersOnly],
    ['PATCH', path, { pool: { max_concurrent_gpus: 4 } }, adminsOnly],
    ['PUT', `${path}/members/viewer`, { role: 'viewer' }, managers],
    ['PUT', `${path}/members/maintainer`, { role: 'maintainer' }, ownersOnly],
    ['PUT', `${path}/members/viewer`, { role: 'maintainer' }, { ...ownersOnly, owner: 200 }],
    ['PUT', `${path}/groups/some`, { role: 'member' }, administration],
    ['DELETE', `${path}/groups/some`, undefined, administration],
  ]
}

test('each route of a team treats each role as documented', async t => {
  t.timeout(patient(120_000))
  const people = await onePerRole('matrix')
  for (const [method, path, body, expected] of asked('matrix')) {
    const found = await inTurn(people, { method, path, body })
    t.deepEqual(found, expected, `${method} ${path} ${JSON.stringify(body)}`)
    await people.as('admin', 'PUT', '/api/teams/matrix/members/viewer', { role: 'viewer' })
  }
  const leave = await inTurn(people, { method: 'POST', path: '/api/teams/matrix/leave', body: {} })
  t.deepEqual(leave, {
    owner: 409,
    maintainer: 200,
    member: 200,
    viewer: 200,
    stranger: 404,
    admin: 409,
  })
  await until('only the last owner is left', 20_000, async () => {
    const { body } = await people.as('admin', 'GET', '/api/teams/matrix/members')
    const left = body as unknown as { username: string }[]
    return left.length === 1 && left[0]?.username === 'owner'
  })
})

async function inTurn(
  { as }: OnePerRole,
  { method, path, body }: { method: string; path: string; body: object | undefined },
): Promise<Expected> {
  const found: Partial<Expected> = {}
  // Roles with fewer rights come first, so that their requests would change something.
  for (const who of roles.toReversed()) found[who] = (await as(who, method, path, body)).status
  return Object.fromEntries(roles.map(who => [who, found[who] ?? 0])) as Expected
}

test('a hidden team and a missing one get the same answers, and its name is in no list', async t => {
  const { as } = await onePerRole('secret')
  for (const [method, path, body] of [
    ...asked('secret'),
    ['DELETE', '/api/teams/secret', undefined] as const,
  ]) {
    const hidden = await as('stranger', method, path, body)
    const missing = await as('stranger', method, path.replaceAll('secret', 'absent'), body)
    const text = (reply: { body: object }) =>
      JSON.stringify({ ...reply.body, request_id: '' }).replaceAll(/secret|absent/g, '?')
    t.is(hidden.status, path.includes('/groups/') ? 403 : 404, `${method} ${path}`)
    t.is(text(hidden), text(missing))
  }
  const { body } = await as('stranger', 'GET', '/api/teams')
  t.deepEqual(body, [])
  t.is((await as('stranger', 'POST', '/api/teams', { name: 'secret' })).status, 409)
})

test('the project of a team is everything to its people that their role in the team says', async t => {
  t.timeout(patient(120_000))
  const { forge, as, tokens } = await onePerRole('rl')
  const project = 'of-rl'
  const { run_id } = await createRun(
    {
      ...forge,
      call: (m, p, o) => forge.call(m, p, { token: tokens.member, ...o }),
    } as typeof forge,
    project,
  )
  const path = `/api/projects/${project}`
  t.is((await as('viewer', 'GET', path)).status, 404)
  // A member may not bring projects into the team, not even an own one.
  t.like(await as('member', 'PUT', `${path}/team`, { team: 'rl' }), {
    status: 403,
    body: { code: 'team.role' },
  })
  t.is((await as('member', 'PUT', `${path}/team`, { team: 'nobodys' })).status, 404)
  t.is((await as('maintainer', 'PUT', `${path}/team`, { team: 'rl' })).status, 404)
  const given = await as('admin', 'PUT', `${path}/team`, { team: 'rl' })
  t.like(given.body, { project, team: 'rl', owner: 'member', changed: true })
  await as('admin', 'GET', path)

  const expected: Record<string, Expected> = {
    [`GET ${path}`]: everyMember,
    [`GET /api/runs/${run_id}`]: everyMember,
    [`PATCH ${path}`]: { ...managers, member: 200 },
    'POST /api/runs': { ...everyMember, viewer: 403, stranger: 403 },
  }
  for (const [what, statuses] of Object.entries(expected)) {
    const [method = '', address = ''] = what.split(' ')
    const body = method === 'PATCH' ? {} : method === 'POST' ? { project } : undefined
    for (const who of roles)
      t.is((await as(who, method, address, body)).status, statuses[who], `${who}: ${what}`)
  }
  t.like(await as('maintainer', 'GET', path), { body: { team: 'rl', my_role: 'maintainer' } })
  const { body: me } = await as('viewer', 'GET', '/api/auth/me')
  const own = me.teams as { name: string; role: string }[]
  t.deepEqual(
    own.find(({ name }) => name === 'rl'),
    { name: 'rl', role: 'viewer' },
  )
  t.like(await as('viewer', 'GET', '/api/teams/rl/projects'), {
    body: [{ name: project, owner: 'member' }],
  })

  // Projects of people who leave go to the chosen member, or the first owner.
  t.like(await as('member', 'POST', '/api/teams/rl/leave', { hand_over_to: 'viewer' }), {
    status: 400,
    body: { code: 'team.no_heir' },
  })
  t.like(await as('member', 'POST', '/api/teams/rl/leave', {}), {
    status: 200,
    body: { handed_over: [{ project, owner: 'owner' }] },
  })
  await as('member', 'GET', '/api/teams')
  t.is((await as('member', 'GET', path)).status, 404)
  // Their own run stays theirs.
  t.is((await as('member', 'GET', `/api/runs/${run_id}`)).status, 200)
  t.is((await as('member', 'PATCH', path, { notes: 'mine' })).status, 404)

  // A team that owns something is not deleted; only its owners take projects out.
  t.like(await as('owner', 'DELETE', '/api/teams/rl'), {
    status: 409,
    body: { code: 'team.in_use' },
  })
  t.is((await as('maintainer', 'PUT', `${path}/team`, { team: null })).status, 403)
  t.like(await as('owner', 'PUT', `${path}/team`, { team: null }), {
    status: 200,
    body: { owner: 'owner' },
  })
  await as('owner', 'GET', path)
  t.is((await as('viewer', 'GET', path)).status, 404)
  t.is((await as('owner', 'DELETE', '/api/teams/rl')).status, 200)
  t.is((await as('owner', 'GET', '/api/teams/rl')).status, 404)
  t.like(await as('owner', 'POST', '/api/teams', { name: 'rl' }), {
    status: 409,
    body: { code: 'team.exists' },
  })
})

test('of two owners who leave at once one stays', async t => {
  const { as } = await onePerRole('pair')
  await as('owner', 'PUT', '/api/teams/pair/members/member', { role: 'owner' })
  const left = await Promise.all(
    (['owner', 'member'] as const).map(who => as(who, 'POST', '/api/teams/pair/leave', {})),
  )
  t.deepEqual(left.map(({ status }) => status).toSorted(), [200, 409])
})
