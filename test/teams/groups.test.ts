import test from 'ava'
import { signInAs, startWithRealProvider } from '../oidc/provider.ts'
import type { Visitor } from '../oidc/visitor.ts'
import { patient } from '../servers/patience.ts'

type Me = { teams: { name: string; role: string }[] }

test('the groups of a sign-in decide the memberships that groups gave, and no others', async t => {
  t.timeout(patient(120_000))
  const { forge, base, people } = await startWithRealProvider(t)
  const tokenOf = async (visitor: Visitor) => {
    const answer = await visitor.post(`${base}/api/auth/refresh`, {})
    return ((await answer.json()) as { token: string }).token
  }
  const teamsOf = async (subject: string, groups: string[]) => {
    people.set(subject, { preferred_username: subject, groups })
    const { visitor } = await signInAs(base, subject)
    const token = await tokenOf(visitor)
    const { body } = await forge.call<Me>('GET', '/api/auth/me', { token })
    return { token, teams: body.teams }
  }
  const boss = await teamsOf('boss', ['forge-admins'])
  const as = (token: string, method: string, path: string, body?: object) =>
    forge.call<{ body: object }>(method, path, { token, ...(body && { body }) })
  for (const name of ['rl', 'vision']) await as(boss.token, 'POST', '/api/teams', { name })
  await as(boss.token, 'PUT', '/api/teams/rl/groups/research', { role: 'viewer' })
  await as(boss.token, 'PUT', '/api/teams/rl/groups/rl-leads', { role: 'maintainer' })
  await as(boss.token, 'PUT', '/api/teams/vision/groups/research', { role: 'member' })

  // The highest role of several groups counts.
  const first = await teamsOf('ada', ['research', 'rl-leads', 'unmapped'])
  t.deepEqual(first.teams, [
    { name: 'rl', role: 'maintainer' },
    { name: 'vision', role: 'member' },
  ])
  // A project that she brings in stays in the team when she loses the group.
  await as(first.token, 'POST', '/api/runs', { project: 'adas' })
  t.is((await as(first.token, 'PUT', '/api/projects/adas/team', { team: 'rl' })).status, 200)
  await as(boss.token, 'PUT', '/api/teams/vision/members/ada', { role: 'viewer' })

  const later = await teamsOf('ada', [])
  t.deepEqual(later.teams, [{ name: 'vision', role: 'viewer' }])
  t.is((await as(later.token, 'GET', '/api/projects/adas')).status, 404)
  t.like((await as(boss.token, 'GET', '/api/projects/adas')).body, { owner: 'boss', team: 'rl' })
})
