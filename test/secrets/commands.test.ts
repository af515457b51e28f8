import test from 'ava'
import { commandLine } from '../servers/command-line.ts'
import { startForge } from '../servers/forge.ts'
import { signedIn } from '../servers/signed-in.ts'

type Row = { name: string; set_at: string; created_at: string; needed_by: unknown[] }

const value = 'the value of a secret'

test('a secret is its owner’s alone, and no response contains its value', async t => {
  const forge = await startForge(t)
  const [alice, bob] = [await signedIn(forge, 'alice'), await signedIn(forge, 'bob')]
  const set = (token: string, name: string, body: object = { value }) =>
    forge.call<{ created: boolean; set_at: string }>('PUT', `/api/secrets/${name}`, { token, body })
  const listed = async (token: string) =>
    (await forge.call<Row[]>('GET', '/api/secrets', { token })).body

  const first = await set(alice, 'HUB_TOKEN')
  t.like(first, { status: 200, body: { name: 'HUB_TOKEN', created: true } })
  const again = await set(alice, 'HUB_TOKEN', { value: `${value}, replaced` })
  t.like(again, { status: 200, body: { created: false } })
  await set(bob, 'HUB_TOKEN', { value: 'another value' })
  const [row, ...more] = await listed(alice)
  t.deepEqual(more, [])
  t.like(row, { name: 'HUB_TOKEN', set_at: again.body.set_at, created_at: first.body.set_at })
  t.deepEqual(row?.needed_by, [])
  t.is((await listed(bob)).length, 1)
  t.deepEqual(await listed(forge.token), [])

  const remove = (token: string) => forge.call('DELETE', '/api/secrets/HUB_TOKEN', { token })
  t.like(await remove(forge.token), { status: 404, body: { detail: 'No such secret: HUB_TOKEN' } })
  t.is((await remove(alice)).status, 200)
  t.is((await remove(alice)).status, 404)
  t.deepEqual(await listed(alice), [])
  t.is((await listed(bob)).length, 1)

  const audited = await forge.call('GET', '/api/audit?limit=200')
  const read = [first, again, row, audited.body]
  t.regex(JSON.stringify(audited.body), /alice set the secret HUB_TOKEN/)
  t.false(JSON.stringify(read).includes(value))
})

test('bad names and values are refused without repeating the value', async t => {
  const forge = await startForge(t)
  for (const name of ['PATH', 'LD_PRELOAD', 'FORGE_ATTEMPT', 'two words', '1ST', 'a-b']) {
    const refused = await forge.call('PUT', `/api/secrets/${encodeURIComponent(name)}`, {
      body: { value },
    })
    t.is(refused.status, 422, name)
    t.regex(JSON.stringify(refused.body), /"loc":\["path","name"\]/)
    t.false(JSON.stringify(refused.body).includes(value))
  }
  for (const wrong of [
    { value: '' },
    { value: `${value}\0` },
    { value: `${value}${'x'.repeat(16_384)}` },
    // 16,384 characters, but three bytes each.
    { value: '五'.repeat(16_384) },
    { value: [value] },
    { value, more: value },
    { valeu: value },
  ]) {
    const refused = await forge.call('PUT', '/api/secrets/HUB_TOKEN', { body: wrong })
    t.is(refused.status, 422, JSON.stringify(wrong).slice(0, 60))
    t.false(JSON.stringify(refused.body).includes(value))
  }
  t.is(
    (await forge.call('PUT', '/api/secrets/KEY', { body: { value: 'x'.repeat(16_384) } })).status,
    200,
  )
})

test('a person has at most 100 secrets, and may replace those', async t => {
  const forge = await startForge(t)
  const set = (name: string) => forge.call('PUT', `/api/secrets/${name}`, { body: { value } })
  for (let n = 0; n < 99; n++) t.is((await set(`S_${n}`)).status, 200)
  const two = await Promise.all([set('LAST'), set('ONE_TOO_MANY')])
  t.deepEqual(two.map(({ status }) => status).sort(), [200, 409])
  t.is((await set('S_7')).status, 200)
  t.is((await forge.call('DELETE', '/api/secrets/S_8')).status, 200)
  t.is((await set('S_8')).status, 200)
})

test('the command line sets, lists and removes secrets', async t => {
  const forge = await startForge(t)
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const set = await run(['secret', 'set', 'SIGNING_KEY', '--value-stdin'], {
    stdin: 'line 1\nline 2\n',
  })
  t.is(set.code, 0, set.stderr)
  t.regex(set.stderr, /Set SIGNING_KEY/)
  const replaced = await run(['secret', 'set', 'SIGNING_KEY', '--value-stdin'], { stdin: 'x' })
  t.regex(replaced.stderr, /Replaced SIGNING_KEY/)
  t.is((await run(['secret', 'set', 'SIGNING_KEY', '--value-stdin'], { stdin: '' })).code, 2)
  const listed = await run(['secret', 'ls'])
  t.regex(listed.stdout, /SIGNING_KEY +\S+ +-/)
  t.is((await run(['secret', 'rm', 'SIGNING_KEY'])).code, 0)
  t.regex((await run(['secret', 'ls'])).stderr, /No secrets/)
})
