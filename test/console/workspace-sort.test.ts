import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { axeFinds, becomes, fits, keepViews, openSignedIn } from './browse.ts'
import { runRows } from './run-rows.ts'

test('a workspace sorts its runs by a metric, draws the first ones, and shows what mattered for it', async t => {
  const forge = await startForge(t)
  // The least loss is in the middle: neither the newest nor the oldest run is the best.
  for (let nth = 0; nth < 24; nth++) {
    const run = await createRun(forge, 'sweep')
    const lr = 10 ** -(1 + Math.abs(nth - 7) / 4)
    await ingest(forge, run, 'hparams', { params: { lr, depth: 2 + ((nth * 7) % 5) } })
    const points = Array.from({ length: 20 }, (_, step) => [
      { key: 'train/loss', step, value: 3 + nth },
      { key: 'val/loss', step, value: 1 + Math.abs(nth - 7) + nth / 100 + 1 / (1 + step) },
    ])
    await ingest(forge, run, 'metrics', { points: points.flat() })
  }
  const { page, faults } = await openSignedIn(t, forge)
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto(`${forge.url}/projects/sweep`)
  await page.getByText('10 of 24 runs shown').waitFor()
  const rows = runRows(page)
  const first = async () => (await rows.allTextContents()).slice(0, 3)
  await becomes(t, async () => (await first())[0], 'sweep-24pending26')

  await page.getByLabel('Sort by').selectOption({ label: 'val/loss, lowest first' })
  await page.waitForURL(/sort=/)
  await becomes(t, first, ['sweep-8pending1.12', 'sweep-7pending2.11', 'sweep-9pending2.13'])
  t.true(await page.getByLabel('Show sweep-8 (sweep-8)').isChecked())
  t.false(await page.getByLabel('Show sweep-24 (sweep-24)').isChecked())
  await page.getByRole('button', { name: 'First 10' }).waitFor()
  t.deepEqual(await axeFinds(page), [])
  await keepViews(page, 'console-workspace-sort')

  // A reload, or somebody else with the address, gets the same order.
  await page.setViewportSize({ width: 1440, height: 900 })
  const address = page.url()
  await page.goto('about:blank')
  await page.goto(address)
  await becomes(t, async () => (await first())[0], 'sweep-8pending1.12')
  await page.getByLabel('Sort by').selectOption({ label: 'val/loss, highest first' })
  await becomes(t, async () => (await first())[0], 'sweep-24pending17.3')

  // The menu of a chart adds what mattered for its metric.
  await page.getByRole('button', { name: 'Actions: val/loss' }).click()
  await page.getByRole('menuitem', { name: 'Importance of hyperparameters' }).click()
  const shares = page.getByRole('list', { name: 'Importance of hyperparameters: val/loss' })
  const most = async () => (await shares.getByRole('listitem').allTextContents())[0] ?? ''
  await becomes(t, async () => /^lr[5-9]\d %/.test(await most()), true, 'the loss depends on lr')

  await page.getByLabel('Sort by').selectOption({ label: 'Newest first' })
  await becomes(t, async () => (await first())[0], 'sweep-24pending26')

  // A word narrows the list while it is typed; only Enter asks the server, and changes the charts.
  const search = page.getByRole('searchbox', { name: 'Search the runs of this project' })
  await search.fill('sweep-1')
  await becomes(t, () => rows.count(), 11)
  await page.getByText('10 of 24 runs shown').waitFor()
  await search.fill('none of them')
  await page.getByText('No listed run matches.').waitFor()
  await search.fill('sweep-7')
  await page.keyboard.press('Enter')
  await page.getByText('1 of 1 runs shown').waitFor()
  await search.fill('')
  await becomes(t, () => rows.count(), 24)
  t.false(page.url().includes('sort='))
  await page.setViewportSize({ width: 390, height: 800 })
  await fits(page)
  t.deepEqual(faults, [])
})
