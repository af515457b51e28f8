import test from 'ava'
import { type Forge, startForge } from '../servers/forge.ts'
import { signedIn } from '../servers/signed-in.ts'

type Listed = { owner: string; name: string; visibility: string }[]

const put = (forge: Forge, token: string, owner: string, name: string, visibility = 'private') =>
  forge.call('PUT', `/api/rubrics/${owner}/${name}`, {
    token,
    body: { name, criteria: [{ name: 'tone' }], visibility },
  })

test('a private rubric is its owner’s and the admins’; a public one everybody’s; hidden ones look missing', async t => {
  const forge = await startForge(t)
  const [alice, bob] = [await signedIn(forge, 'alice'), await signedIn(forge, 'bob')]
  await put(forge, alice, 'alice', 'secret')
  await put(forge, alice, 'alice', 'shown', 'public')
  await put(forge, bob, 'bob', 'own')
  const names = async (token: string) =>
    (await forge.call<Listed>('GET', '/api/rubrics', { token })).body.map(
      r => `${r.owner}/${r.name}`,
    )
  t.deepEqual(await names(alice), ['alice/secret', 'alice/shown'])
  t.deepEqual(await names(bob), ['alice/shown', 'bob/own'])
  t.deepEqual(await names(forge.token), ['alice/secret', 'alice/shown', 'bob/own'])
  const read = (name: string) => forge.call('GET', `/api/rubrics/alice/${name}`, { token: bob })
  t.is((await read('shown')).status, 200)
  const [hidden, missing] = [await read('secret'), await read('nothing')]
  t.is(hidden.status, 404)
  t.is(missing.status, 404)
  t.is(
    String(hidden.body.detail).replace('secret', '?'),
    String(missing.body.detail).replace('nothing', '?'),
  )
})

test('only the owner or an admin writes a rubric, whether it exists or not', async t => {
  const forge = await startForge(t)
  const [alice, bob] = [await signedIn(forge, 'alice'), await signedIn(forge, 'bob')]
  await put(forge, alice, 'alice', 'helpful')
  t.is((await put(forge, bob, 'alice', 'helpful', 'public')).status, 403)
  t.is((await put(forge, bob, 'alice', 'new')).status, 403)
  t.is((await put(forge, forge.token, 'alice', 'helpful', 'public')).status, 200)
})

test('the list is ordered, paged without overlap, filtered by owner, and counted', async t => {
  const forge = await startForge(t)
  const alice = await signedIn(forge, 'alice')
  for (const name of ['c', 'a', 'e', 'b', 'd']) await put(forge, alice, 'alice', name)
  await put(forge, forge.token, 'admin', 'z')
  const page = (query: string) => forge.call<Listed>('GET', `/api/rubrics?${query}`)
  const seen: string[] = []
  for (let offset = 0; offset < 6; offset += 2) {
    const { body, headers } = await page(`limit=2&offset=${offset}`)
    seen.push(...body.map(rubric => `${rubric.owner}/${rubric.name}`))
    t.is(headers.get('x-total-count'), '6')
    t.is(headers.get('link')?.includes('rel="next"') ?? false, offset < 4)
    t.is(headers.get('link')?.includes('rel="prev"') ?? false, offset > 0)
  }
  t.deepEqual(seen, ['admin/z', 'alice/a', 'alice/b', 'alice/c', 'alice/d', 'alice/e'])
  t.is((await page('owner=alice')).body.length, 5)
  for (const query of ['limit=0', 'limit=501', 'offset=-1', 'offset=100001', 'huh=1'])
    t.is((await page(query)).status, 422, query)
})
