import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { commandLine } from '../servers/command-line.ts'
import { startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'

type Comparison = Record<'runs' | 'environment' | 'data' | 'metrics' | 'missing', object[]> & {
  hparams: { key: string; values: unknown[] }[]
}

test('a comparison shows the differences and the common metrics, on the terminal too, and the export has every point', async t => {
  const forge = await startForge(t)
  const [a, b] = [await createRun(forge), await createRun(forge)]
  const points = (values: number[], more: object[]) => ({
    points: [
      ...values.map((value, step) => ({
        key: 'val/loss',
        step,
        value,
        ts: '2026-11-01T00:00:00Z',
      })),
      ...more,
    ],
  })
  await ingest(forge, a, 'hparams', { params: { lr: 0.1, seed: 1, note: null } })
  await ingest(forge, b, 'hparams', { params: { lr: 0.2, seed: 1, amp: true } })
  await ingest(forge, a, 'metrics', points([2, 1, 1.5], [{ key: 'acc', step: 1, value: 0.5 }]))
  await ingest(
    forge,
    b,
    'metrics',
    points(
      [3, 'NaN' as unknown as number],
      [
        { key: '=only b', step: 1, value: -1 },
        { key: 'acc', step: 1, value: 0.25 },
      ],
    ),
  )
  const environment = (torch: string) => ({ python: '3.11.9', packages: { torch, numpy: '2.3.4' } })
  await ingest(forge, a, 'environment', environment('2.9.0'))
  await ingest(forge, b, 'environment', environment('2.9.1'))
  const path = `/api/runs/compare?ids=${b.run_id},${a.short_id}`
  const compared = await until('all is projected', 60_000, async () => {
    const { body } = await forge.call<Comparison>('GET', path)
    const isThere = body.environment.length > 0 && body.hparams[0]?.key === 'amp'
    return isThere && body.metrics.length === 2 ? body : null
  })
  t.like(compared.runs, [{ run_id: b.run_id }, { run_id: a.run_id }])
  t.deepEqual(compared.hparams, [
    { key: 'amp', values: [true, null] },
    { key: 'lr', values: [0.2, 0.1] },
    { key: 'note', values: [null, null] },
  ])
  t.deepEqual(compared.environment, [{ key: 'packages.torch', values: ['2.9.1', '2.9.0'] }])
  t.deepEqual(compared.data, [])
  t.deepEqual(compared.missing, [])
  t.deepEqual(compared.metrics, [
    { key: 'acc', last: [0.25, 0.5], goal: 'max', best: [0.25, 0.5] },
    { key: 'val/loss', last: ['NaN', 1.5], goal: 'min', best: [3, 1] },
  ])

  const { body: whole } = await forge.call<Comparison>('GET', `${path}&rows=all`)
  t.deepEqual(whole.hparams[3], { key: 'seed', values: [1, 1] })
  t.deepEqual(whole.environment[0], { key: 'packages.numpy', values: ['2.3.4', '2.3.4'] })
  t.deepEqual(whole.metrics, compared.metrics)
  const withGone = `/api/runs/compare?ids=${b.run_id},gone-1,${a.short_id}`
  t.is((await forge.call('GET', withGone)).status, 404)
  const { body: others } = await forge.call<Comparison>('GET', `${withGone}&missing=skip`)
  t.deepEqual(others, { ...compared, missing: ['gone-1'] })
  const tooFew = await forge.call('GET', `/api/runs/compare?ids=gone-1,${a.short_id}&missing=skip`)
  t.like(tooFew, { status: 404, body: { detail: 'Too few of the runs exist; not found: gone-1' } })

  const { run, home } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const shown = await run(['compare', a.short_id, b.short_id])
  t.is(shown.code, 0, shown.stderr)
  t.regex(shown.stdout, /^ +demo-1 +demo-2\n/)
  t.regex(shown.stdout, /\nlr +0\.1 +0\.2\n/)
  t.regex(shown.stdout, /\npackages\.torch +2\.9\.0 +2\.9\.1\n/)
  t.regex(shown.stdout, /\nval\/loss \(min\) +1 +3\n/)
  t.regex((await run(['compare', a.short_id, b.short_id, '--all'])).stdout, /\nseed +1 +1\n/)
  t.is((await run(['compare', a.short_id])).code, 2)

  const file = join(home, 'points.csv')
  const exported = await run(['metrics', a.run_id, '--export', 'csv', '-k', 'val/loss', '-o', file])
  t.is(exported.code, 0, exported.stderr)
  t.is(
    await readFile(file, 'utf8'),
    'key,step,value,ts\nval/loss,0,2,1793491200000\nval/loss,1,1,1793491200000\nval/loss,2,1.5,1793491200000\n',
  )
  t.is(
    (await run(['metrics', a.run_id, '--export', 'csv', '-o', file])).code,
    2,
    'no file is replaced',
  )
  t.is(
    (await run(['metrics', b.run_id, '--csv', '-k', '=only b'])).stdout,
    "key,step,value\n'=only b,1,-1\n",
  )
  const lines = await run(['metrics', b.run_id, '--export', 'jsonl', '-k', 'val/loss'])
  t.deepEqual(
    lines.stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).value),
    [3, 'NaN'],
  )

  const stranger = await signedIn(forge, 'stranger')
  t.is((await forge.call('GET', path, { token: stranger })).status, 404)
  for (const ids of ['', a.run_id, Array.from({ length: 201 }, (_, n) => `x${n}`).join()])
    t.is((await forge.call('GET', `/api/runs/compare?ids=${ids}`)).status, 422, ids)
})

test('200 runs can be compared, and no more', async t => {
  const forge = await startForge(t)
  const runs = [await createRun(forge)]
  while (runs.length < 200)
    runs.push(...(await Promise.all(Array.from({ length: 10 }, () => createRun(forge)))))
  const ids = runs.slice(0, 200).map(run => run.short_id)
  const path = (of: string[]) => `/api/runs/compare?ids=${of.join(',')}`
  const { body } = await until('all are projected', 60_000, async () => {
    const compared = await forge.call<Comparison>('GET', path(ids))
    return compared.status === 200 ? compared : null
  })
  t.deepEqual(
    body.runs.map(run => (run as { short_id: string }).short_id),
    ids,
  )
  const tooMany = await forge.call('GET', path([...ids, 'demo-1']))
  t.is(tooMany.status, 422)
  t.regex(JSON.stringify(tooMany.body), /A comparison takes 2 to 200 runs, not 201/)
})
