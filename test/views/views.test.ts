import test from 'ava'
import { commandLine } from '../servers/command-line.ts'
import { startForge } from '../servers/forge.ts'
import { createRun } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'

const base = '/api/projects/demo/views'

test('views are private, shared, or the default of their project', async t => {
  const forge = await startForge(t)
  await createRun(forge)
  const [bob, eve] = [await signedIn(forge, 'bob'), await signedIn(forge, 'eve')]
  await forge.call('PUT', '/api/projects/demo/members/bob', { body: { role: 'viewer' } })
  const save = (view: string, body: object, token = forge.token) =>
    forge.call<{ changed: boolean }>('PUT', `${base}/${view}`, { token, body })
  const state = { panels: [{ kind: 'line', keys: ['val/loss'] }], group: 'hparams.lr' }

  t.deepEqual((await save('mine', { state })).body, {
    ...{ view: 'mine', owner: 'admin', shared: false, changed: true },
  })
  t.false((await save('mine', { state })).body.changed)
  await save('ours', { state, shared: true })
  t.like((await save('default', { state: { group: 'state' } })).body, { owner: null, shared: true })
  await until('the member reads what is shared', 20_000, async () => {
    const { body } = await forge.call<{ view: string; owner: string | null }[]>('GET', base, {
      token: bob,
    })
    const names = Array.isArray(body) ? body.map(({ view, owner }) => [view, owner]) : []
    return JSON.stringify(names) === '[["default",null],["ours","admin"]]' ? true : null
  })
  const read = (view: string, token: string) => forge.call('GET', `${base}/${view}`, { token })
  t.like(await read('ours?owner=admin', bob), { status: 200, body: { state, owner: 'admin' } })
  t.like(await read('default', bob), {
    status: 200,
    body: { state: { group: 'state' }, owner: null },
  })
  t.like(await read('mine?owner=admin', bob), {
    status: 404,
    body: { detail: 'No such view: mine' },
  })
  t.like(await read('mine', forge.token), { status: 200, body: { state, shared: false } })

  // The same name is another view for another person, hidden even from administrators.
  t.like(await save('mine', { state: { q: 'theirs' } }, bob), { status: 200 })
  t.like(await read('mine', bob), { status: 200, body: { state: { q: 'theirs' } } })
  t.is((await read('mine?owner=bob', forge.token)).status, 404)
  t.like(await save('default', { state }, bob), {
    status: 403,
    body: { detail: 'Only maintainers may change the default view of demo' },
  })
  const missing = { status: 404, body: { detail: 'No such project: demo' } }
  t.like(await save('mine', { state }, eve), missing)
  t.like(await read('default', eve), missing)
  t.like(await forge.call('GET', base, { token: eve }), missing)
  t.like(await forge.call('DELETE', `${base}/default`, { token: eve }), missing)

  const notes = (size: number) =>
    Array.from({ length: 33 }, (_, nth) => ({
      kind: 'note',
      text: 'x'.repeat(nth === 0 ? size : 2_000),
    }))
  const tooLarge = await save('mine', { state: { panels: notes(667) } })
  t.is(tooLarge.status, 422)
  t.regex(JSON.stringify(tooLarge.body), /65537 bytes as JSON; a view may have 65536/)
  for (const wrong of [
    { panels: [{ kind: 'pie', keys: ['loss'] }] },
    { panels: [{ kind: 'line', keys: [] }] },
    { panels: [{ kind: 'scatter', x: 'hparams.lr' }] },
    { panels: [{ kind: 'note', text: 'x'.repeat(2_001) }] },
    { panels: Array.from({ length: 41 }, () => ({ kind: 'note', text: '' })) },
    { theirs: true },
  ])
    t.is((await save('mine', { state: wrong })).status, 422, JSON.stringify(wrong).slice(0, 80))

  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const listed = await run(['projects', 'views', 'list', 'demo'])
  t.is(listed.code, 0, listed.stderr)
  t.regex(listed.stdout, /default .*\n.*mine +admin .*private.*\n.*ours +admin .*shared/)
  t.is((await run(['projects', 'views', 'rm', 'demo', 'mine'])).code, 0)
  t.is((await read('mine', forge.token)).status, 404)
  t.is((await forge.call('DELETE', `${base}/mine`)).status, 404)
  t.is((await read('mine', bob)).status, 200)
})

test('a person has at most 100 views in a project, and may save those again', async t => {
  const forge = await startForge(t)
  await createRun(forge)
  const save = (view: string, state: object) =>
    forge.call('PUT', `${base}/${view}`, { body: { state } })
  for (let n = 0; n < 100; n++) t.is((await save(`view ${n}`, {})).status, 200)
  t.like(await save('view 100', {}), { status: 409 })
  t.is((await save('view 7', { q: 'again' })).status, 200)
  t.is((await save('default', {})).status, 200)
  t.is((await forge.call('DELETE', `${base}/view 8`)).status, 200)
  t.is((await save('view 100', {})).status, 200)
})
