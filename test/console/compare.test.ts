import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'
import { axeFinds, becomes, keepViews, openPage, openSignedIn, signIn } from './browse.ts'

test('a person compares runs: curves, differences and a scatter, all of it in the address', async t => {
  const forge = await startForge(t)
  const runs = [await createRun(forge), await createRun(forge), await createRun(forge)]
  for (const [nth, run] of runs.entries()) {
    await ingest(forge, run, 'lifecycle', { event: 'running' })
    await ingest(forge, run, 'hparams', { params: { lr: 10 ** -nth, seed: 7, depth: 2 + nth } })
    const points = Array.from({ length: 1000 }, (_, step) => [
      { key: 'train/loss', step, value: (nth + 1) / (step + 1) },
      { key: 'val/accuracy', step, value: step / (1000 + nth) },
    ])
    await ingest(forge, run, 'metrics', { points: points.flat() })
  }
  const ids = runs.map(({ short_id }) => short_id)
  const { page, faults } = await openPage(t)
  await page.goto(`${forge.url}/compare?runs=${[...ids, 'gone-9'].join(',')}`)
  await signIn(page)
  await page.getByRole('alert').getByText('gone-9 was not found').waitFor()
  const charts = page.getByRole('figure')
  await page.getByRole('figure', { name: 'val/accuracy' }).getByText('3 lines').waitFor()
  const titles = () => charts.getByRole('heading').allTextContents()
  await becomes(t, titles, [
    ...['train/loss (min) / depth', 'Parallel coordinates', 'train/loss', 'val/accuracy'],
  ])
  await keepViews(page, 'console-compare')
  await page.setViewportSize({ width: 1280, height: 800 })

  // A zoom is in the address, and still applies after a reload.
  const place = page.getByRole('img', { name: 'train/loss', exact: true })
  await place.scrollIntoViewIfNeeded()
  const plot = await until('the chart fills its place again', 20_000, async () => {
    const [whole, drawn] = [await place.boundingBox(), await place.locator('.u-over').boundingBox()]
    return whole && drawn && drawn.width > whole.width * 0.7 && whole
  })
  const y = plot.y + plot.height / 3
  await page.mouse.move(plot.x + plot.width * 0.4, y)
  await page.mouse.down()
  await page.mouse.move(plot.x + plot.width * 0.6, y, { steps: 3 })
  await page.mouse.up()
  await page.waitForURL(/range=\d/)
  await page.reload()
  await page.getByRole('button', { name: 'Show all' }).click()
  await page.waitForURL(url => !url.searchParams.has('range'))

  await page.getByRole('link', { name: 'Differences' }).click()
  const hparams = page.getByRole('table', { name: 'Hyperparameters that differ' })
  await hparams.getByRole('cell', { name: '0.01', exact: true }).waitFor()
  await becomes(t, () => hparams.getByRole('row').count(), 3)
  await page.getByLabel('Show identical values').check()
  await page
    .getByRole('table', { name: 'Hyperparameters', exact: true })
    .getByText('seed')
    .waitFor()
  await keepViews(page, 'console-compare-differences')
  await page.setViewportSize({ width: 1280, height: 800 })
  // The best by a hyperparameter, and all of them in parallel.
  await page.getByRole('link', { name: 'Curves' }).click()
  const scatter = page.getByRole('img', { name: 'train/loss (min) / depth' })
  await becomes(t, () => scatter.locator('circle').count(), 3)
  await page.getByRole('button', { name: 'Actions: train/loss (min) / depth' }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  await page.getByLabel('Horizontal axis', { exact: true }).fill('hparams.lr')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL(/panels=/)
  await page.reload()
  await becomes(
    t,
    () => page.getByRole('img', { name: 'train/loss (min) / lr' }).locator('circle').count(),
    3,
  )
  t.deepEqual(await axeFinds(page), [])
  t.deepEqual(faults, [])
})

test('a comparison takes 200 runs, and says why it takes no more', async t => {
  const forge = await startForge(t)
  const ids: string[] = []
  for (let nth = 0; nth < 200; nth++) {
    const run = await createRun(forge)
    ids.push(run.short_id)
    await ingest(forge, run, 'hparams', { params: { lr: nth } })
    await ingest(forge, run, 'metrics', {
      points: [0, 1].map(step => ({ key: 'loss', step, value: nth + step })),
    })
  }
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/compare?runs=${ids.join(',')}`)
  await page.getByRole('figure', { name: 'loss', exact: true }).getByText('200 lines').waitFor()
  const scatter = page.getByRole('img', { name: 'loss (min) / lr' })
  await becomes(t, () => scatter.locator('circle').count(), 200)
  t.is(await page.getByRole('alert').count(), 0)
  await page.getByRole('button', { name: 'Add', exact: true }).hover()
  await page.getByRole('tooltip').getByText('At most 200 runs are compared').waitFor()
  await page.getByRole('link', { name: 'Differences' }).click()
  const table = page.getByRole('table', { name: 'Hyperparameters that differ' })
  await table.getByRole('cell', { name: '199', exact: true }).waitFor()
  t.deepEqual(faults, [])
})
