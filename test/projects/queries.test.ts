import test from 'ava'
import { onePerRole, project, shown } from './one-per-role.ts'

type Row = { name: string; my_role: string | null; runs: number }
type Member = { username: string; role: string; since: string }

test('the list contains the readable projects, by name, in pages, with the number of their runs', async t => {
  const { forge, tokens } = await onePerRole(t)
  for (const name of ['c', 'a', 'b'])
    await forge.call('POST', '/api/runs', {
      token: tokens.stranger,
      body: { project: name },
    })
  await shown(forge, tokens.stranger)
  const list = (token: string, query = '') =>
    forge.call<Row[]>('GET', `/api/projects${query}`, { token })
  const all = await list(forge.token)
  t.deepEqual(
    all.body.map(({ name, runs, my_role }) => ({ name, runs, my_role })),
    [
      { name: 'a', runs: 1, my_role: null },
      { name: 'b', runs: 1, my_role: null },
      { name: 'c', runs: 1, my_role: null },
      { name: project, runs: 2, my_role: null },
    ],
  )
  const page = await list(forge.token, '?limit=2&offset=2')
  t.deepEqual(
    page.body.map(({ name }) => name),
    ['c', project],
  )
  t.is(page.headers.get('x-total-count'), '4')
  t.regex(page.headers.get('link') ?? '', /offset=0>; rel="prev"$/)
  for (const who of ['owner', 'maintainer', 'member', 'viewer'] as const)
    t.like((await list(tokens[who])).body, [{ name: project, my_role: who }], who)
  t.is((await list(tokens.guest)).body.length, 0)
  t.is((await list(tokens.stranger)).body.length, 3)
})

test('members are listed with their roles, the owner first, in pages', async t => {
  const { forge, tokens } = await onePerRole(t)
  const list = (query: string) =>
    forge.call<Member[]>('GET', `/api/projects/${project}/members${query}`, {
      token: tokens.viewer,
    })
  const { body, headers } = await list('')
  t.deepEqual(
    body.map(({ username, role }) => `${username} ${role}`),
    ['owner owner', 'maintainer maintainer', 'member member', 'viewer viewer'],
  )
  t.is(headers.get('x-total-count'), '4')
  for (const { since } of body) t.regex(since, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/)
  const second = await list('?limit=1&offset=1')
  t.is(second.body[0]?.username, 'maintainer')
})
