import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { keepScreenshot } from '../servers/screenshot.ts'
import { axeFinds, becomes, fits, openSignedIn } from './browse.ts'

const long = `${'a-very-long-name-'.repeat(7)}模型🚀`

test('a workspace takes long names, many metrics, a single point and values that are not numbers', async t => {
  const forge = await startForge(t)
  const [large, single] = [await createRun(forge, 'edges'), await createRun(forge, 'edges')]
  await forge.call('PATCH', `/api/runs/${large.run_id}`, { body: { name: long } })
  await ingest(forge, large, 'hparams', { params: { [`优化器.${long}`]: long, lr: 'auto' } })
  await ingest(forge, single, 'hparams', { params: { [`优化器.${long}`]: 1, lr: 0.1 } })
  const points = Array.from({ length: 63 }, (_, nth) =>
    [0, 1, 2].map(step => ({
      key: `部分_${nth % 9}/${'metric-'.repeat(12)}${nth}`,
      step,
      value: nth + step,
    })),
  )
  await ingest(forge, large, 'metrics', { points: points.flat() })
  await ingest(forge, single, 'metrics', { points: [{ key: 'loss 🚀', step: 5, value: 1 }] })
  const panels = [
    { kind: 'scatter', x: `hparams.优化器.${long}`, y: 'hparams.lr', colour: 'hparams.lr' },
    { kind: 'parallel', axes: [`hparams.优化器.${long}`, 'hparams.lr', 'loss 🚀:last'], w: 3 },
    { kind: 'bar', metric: 'loss 🚀:last', title: long },
    { kind: 'importance', metric: 'none:min' },
    { kind: 'note', text: `# ${long}\n\n${'x'.repeat(300)}` },
    { kind: 'line', keys: ['loss 🚀'], over: 'none', logX: true },
  ]
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(
    `${forge.url}/projects/edges?keys=loss&panels=${encodeURIComponent(JSON.stringify(panels))}`,
  )
  await page.getByText('2 of 2 runs shown').waitFor()
  const scatter = page.getByRole('img', { name: /^lr \/ / })
  await becomes(t, () => scatter.locator('circle').count(), 2)
  await page.getByText('This needs two runs with the metric').waitFor()
  for (const [width, height] of [
    [1440, 900],
    [1024, 768],
    [390, 844],
  ] as const) {
    await page.setViewportSize({ width, height })
    await fits(page)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await keepScreenshot(page, `console-workspace-edges-${width}-${colorScheme}`)
    }
  }
  t.deepEqual(await axeFinds(page), [])

  // Sixty-four charts, all of them listed; only those in view are read.
  await page.getByRole('button', { name: 'Chart settings' }).click()
  await page.getByLabel('Filter (text or /pattern/)').fill('')
  const charts = page.locator('details').getByRole('figure')
  await becomes(t, () => charts.count(), 64)
  const read = page.locator('figure[aria-busy]')
  await read.first().waitFor()
  t.true((await read.count()) < 64)

  // Without runs, it says how to report one.
  for (const run of [large, single]) {
    await ingest(forge, run, 'lifecycle', { event: 'running' })
    await ingest(forge, run, 'lifecycle', { event: 'succeeded' })
    t.is((await forge.call('DELETE', `/api/runs/${run.run_id}`)).status, 200)
  }
  await page.goto(`${forge.url}/projects/edges`)
  await page.getByText('This project has no runs yet').waitFor()
  await fits(page)
  await page.setViewportSize({ width: 1440, height: 900 })
  t.deepEqual(await axeFinds(page), [])
  t.deepEqual(faults, [])
})
