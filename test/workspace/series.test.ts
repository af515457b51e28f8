import { isDeepStrictEqual } from 'node:util'
import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'

type Curve = {
  of: number
  x: number
  mean: (number | null)[]
  low?: number[]
  high?: number[]
  runs?: number[]
  last?: { mean: number | null; std: number | null; runs: number }
}
type Series = {
  matched: number
  runs: { run_id: string; reports: number }[]
  groups: { value: string | null; runs: number[] }[] | null
  left_out: object
  keys: { key: string; width: number; x: number[][]; curves: Curve[] }[]
}

const ts = '2026-11-20T12:00:00+00:00'

const points = (values: readonly (number | string)[], step = (i: number) => i) =>
  values.map((value, i) => ({ key: 'val/loss', step: step(i), value, ts }))

test('the curves of a project come by run and by group, for readers of the project only', async t => {
  const forge = await startForge(t)
  const runs = [await createRun(forge), await createRun(forge), await createRun(forge)] as const
  const [a, b, c] = runs
  await ingest(forge, a, 'hparams', { params: { lr: 0.1 } })
  await ingest(forge, b, 'hparams', { params: { lr: 0.1 } })
  await ingest(forge, a, 'metrics', { points: points([4, 2, 'NaN', 1]) })
  // Reports every second step, and longer.
  await ingest(forge, b, 'metrics', { points: points([8, 4, 2], i => 2 * i) })
  await ingest(forge, c, 'metrics', { points: points([1 / 3]) })
  const of = '/api/projects/demo/series?keys=val/loss,none'
  const read = async (query = '', path = of) =>
    (await forge.call<Series>('GET', `${path}${query}`)).body
  const all = await until('all points are there', 20_000, async () => {
    const body = await read('&group=hparams.lr')
    const isThere = body.keys[0]?.curves.length === 2 && body.groups?.[0]?.value === '0.1'
    return isThere && body.runs.every(run => run.reports === 1) ? body : null
  })
  t.deepEqual(all.groups, [
    { value: '0.1', runs: [1, 2] },
    { value: null, runs: [0] },
  ])
  t.deepEqual(all.left_out, { groups: 0, runs: 0 })
  t.deepEqual(
    all.runs.map(run => run.run_id),
    [c.run_id, b.run_id, a.run_id],
  )
  // Step 1 of `b` is interpolated; at step 2 `a` has no finite value, and after step 3 no points.
  t.deepEqual(all.keys[0], {
    key: 'val/loss',
    width: 1,
    x: [[0, 1, 2, 3, 4], [0]],
    curves: [
      {
        of: 0,
        x: 0,
        runs: [2, 2, 1, 2, 1],
        last: { mean: 1.5, std: Math.SQRT1_2, runs: 2 },
        mean: [6, 4, 4, 2, 2],
        low: [4, 2, 4, 1, 2],
        high: [8, 6, 4, 3, 2],
      },
      {
        ...{ of: 1, x: 1, runs: [1], last: { mean: 1 / 3, std: 0, runs: 1 } },
        ...{ mean: [0.3333333], low: [0.3333333], high: [0.3333333] },
      },
    ],
  })
  t.deepEqual(all.keys[1], { key: 'none', width: 0, x: [], curves: [] })
  const deviated = await read('&group=hparams.lr&band=std')
  t.deepEqual(deviated.keys[0]?.curves[0]?.high?.slice(0, 3), [8.828427, 6.828427, 4])

  const plain = await read()
  t.is(plain.groups, null)
  t.deepEqual(plain.keys[0]?.x, [[0], [0, 2, 4], [0, 1, 2, 3]])
  t.deepEqual(plain.keys[0]?.curves[2], { of: 2, x: 2, mean: [4, 2, null, 1] })
  const banded = await read('&buckets=2&band=minmax')
  t.deepEqual(banded.keys[0]?.curves[2], { of: 2, x: 2, mean: [2.333333], low: [1], high: [4] })
  t.deepEqual(
    (await read('&from=2&to=3')).keys[0]?.curves.map(curve => curve.mean),
    [[4], [null, 1]],
  )
  t.deepEqual(
    (await read(`&runs=${a.short_id},gone-7`)).runs.map(run => run.run_id),
    [a.run_id],
  )
  t.like(await read('&q=hparams.lr>0'), { matched: 2 })
  t.deepEqual((await read('&group=state')).groups, [{ value: 'pending', runs: [0, 1, 2] }])
  t.deepEqual((await read('&group=tag')).groups, [{ value: null, runs: [0, 1, 2] }])
  t.is((await forge.call('GET', `${of}&group=color`)).status, 422)
  t.is((await forge.call('GET', `${of}&band=std`)).status, 422)

  const headers = { authorization: `Bearer ${forge.token}` }
  const first = await fetch(`${forge.url}${of}`, { headers })
  const unchanged = { ...headers, 'if-none-match': String(first.headers.get('etag')) }
  t.is((await fetch(`${forge.url}${of}`, { headers: unchanged })).status, 304)
  await ingest(forge, c, 'metrics', { points: points([1, 2]) })
  await until('a report changes the response', 20_000, async () =>
    (await fetch(`${forge.url}${of}`, { headers: unchanged })).status === 200 ? true : null,
  )

  const keys = await forge.call('GET', '/api/projects/demo/metric-keys')
  t.deepEqual(keys.body, {
    ...{ matched: 3, gathered: 3, sections: [{ prefix: 'val', keys: 1 }] },
    keys: [{ key: 'val/loss', runs: 3 }],
  })

  await ingest(forge, c, 'hparams', { params: { lr: 0.2, opt: 'adam' } })
  await until('the hyperparameters are listed', 20_000, async () => {
    const { body } = await forge.call('GET', '/api/projects/demo/hparam-keys')
    return isDeepStrictEqual(body, {
      ...{ matched: 3, gathered: 3, left_out: 0 },
      keys: [
        { key: 'lr', runs: 3, distinct: 2, numeric: true },
        { key: 'opt', runs: 1, distinct: 1, numeric: false },
      ],
    })
      ? true
      : null
  })

  const token = await signedIn(forge, 'bob')
  for (const path of [of, '/api/projects/demo/metric-keys', '/api/projects/demo/hparam-keys']) {
    const hidden = await forge.call('GET', path, { token })
    t.like(hidden, { status: 404, body: { detail: 'No such project: demo' } })
  }
  await forge.call('PUT', '/api/projects/demo/members/bob', { body: { role: 'viewer' } })
  await until('a member may read them', 20_000, async () => {
    const { status, body } = await forge.call<Series>('GET', of, { token })
    return status === 200 && body.runs.length === 3 ? true : null
  })
})
