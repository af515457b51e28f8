import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'

type Row = { short_id: string; hparams?: object; summary: Record<string, { last: unknown }> }

test('names in use and runs by project cover the runs that one may read', async t => {
  const forge = await startForge(t)
  const ada = await signedIn(forge, 'ada')
  const [one, two, other] = [
    await createRun(forge, 'speech'),
    await createRun(forge, 'speech'),
    await createRun(
      { ...forge, call: (m, p, o) => forge.call(m, p, { token: ada, ...o }) },
      'adas',
    ),
  ]
  await ingest(forge, one, 'hparams', { params: { lr: 0.1, 'a,b': 1, note: null } })
  await ingest(forge, two, 'hparams', { params: { LR_end: 1 } })
  await ingest(forge, other, 'hparams', { params: { secret_lr: 1 } })
  const points = (keys: string[]) => ({ points: keys.map(key => ({ key, step: 1, value: 2 })) })
  await ingest(forge, one, 'metrics', points(['train/loss', 'loss', 'acc']))
  await ingest(forge, other, 'metrics', points(['secret/loss']))
  const names = async (query: string, token?: string) =>
    (await forge.call<string[]>('GET', `/api/runs/names?${query}`, { ...(token && { token }) }))
      .body
  await until('all is projected', 20_000, async () => {
    const [metrics, hparams] = [await names('of=metrics'), await names('of=hparams')]
    return metrics.length === 4 && hparams.length === 5
  })
  t.deepEqual(await names('of=metrics&contains=LOSS'), ['loss', 'secret/loss', 'train/loss'])
  t.deepEqual(await names('of=metrics&contains=loss&limit=1'), ['loss'])
  t.deepEqual(await names('of=hparams&contains=lr'), ['LR_end', 'lr', 'secret_lr'])
  t.deepEqual(await names('of=hparams&contains=%25'), [])
  t.deepEqual(await names('of=owners'), ['ada', 'admin'])
  t.deepEqual(await names('of=metrics', ada), ['secret/loss'])
  t.deepEqual(await names('of=hparams', ada), ['secret_lr'])
  t.deepEqual(await names('of=owners', ada), ['ada'])

  const groups = async (query: string, token?: string) =>
    (await forge.call('GET', `/api/runs/by-project?${query}`, { ...(token && { token }) })).body
  t.deepEqual(await groups(''), [
    { project: 'adas', runs: 1 },
    { project: 'speech', runs: 2 },
  ])
  t.deepEqual(await groups('q=hparams.lr%3C1'), [{ project: 'speech', runs: 1 }])
  t.deepEqual(await groups('archived=true'), [])
  t.is((await groups('archived=false')).length, 2)
  t.deepEqual(await groups('', ada), [{ project: 'adas', runs: 1 }])

  const list = async (query: string) =>
    (await forge.call<Row[]>('GET', `/api/runs?sort=name&project=speech&${query}`)).body
  const asked = await list(`hparams=${encodeURIComponent('a\\,b,lr,absent')}`)
  const ofRow = (rows: Row[], id: string) => rows.find(row => row.short_id === id)
  t.deepEqual(ofRow(asked, one.short_id)?.hparams, { lr: 0.1, 'a,b': 1 })
  t.deepEqual(ofRow(asked, two.short_id)?.hparams, {})
  t.false('hparams' in (ofRow(await list(''), one.short_id) ?? {}))
  const many = Array.from({ length: 31 }, (_, nth) => `k${nth}`).join(',')
  t.is((await forge.call('GET', '/api/runs?offset=1000000')).status, 200, 'lists continue')
  for (const query of [`hparams=${many}`, `metrics=${many}`, 'hparams=', 'offset=1000001'])
    t.is((await forge.call('GET', `/api/runs?${query}`)).status, 422, query)
})

test('a list has the requested metrics, beyond the first 50', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  const key = (nth: number) => `m${String(nth).padStart(3, '0')}`
  await ingest(forge, run, 'metrics', {
    points: Array.from({ length: 60 }, (_, nth) => ({ key: key(nth), step: 1, value: nth })),
  })
  const summary = async (query: string) =>
    (await forge.call<Row[]>('GET', `/api/runs?${query}`)).body[0]?.summary ?? {}
  await until('all is projected', 20_000, async () => Object.keys(await summary('')).length === 50)
  t.false(key(59) in (await summary('')))
  const asked = await summary(`metrics=${key(59)},${key(58)},none`)
  t.is(asked[key(59)]?.last, 59)
  t.is(Object.keys(asked).length, 50)
})
