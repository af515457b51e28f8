import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { axeFinds, becomes, fits, keepViews, openSignedIn } from './browse.ts'
import { runRows } from './run-rows.ts'

test('the runs of a workspace have the chosen columns, sort by them, and keep both in the address and in views', async t => {
  const forge = await startForge(t)
  for (const [lr, depth, loss] of [
    [1e-4, 'eight', 0.5],
    [1e-2, '12', 0.25],
    [1e-3, '4', 0.75],
  ] as const) {
    const run = await createRun(forge, 'table')
    await ingest(forge, run, 'hparams', { params: { learning_rate: lr, depth } })
    await ingest(forge, run, 'metrics', {
      points: [0, 1].map(step => ({ key: 'val/loss', step, value: loss * (2 - step) })),
    })
  }
  const { page, faults } = await openSignedIn(t, forge)
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto(`${forge.url}/projects/table`)
  const rows = runRows(page)
  await becomes(t, () => rows.count(), 3)
  const titles = () =>
    page.getByRole('table', { name: 'Runs of the project' }).getByRole('columnheader')
  await becomes(
    t,
    () =>
      titles()
        .allTextContents()
        .then(all => all.map(one => one.trim())),
    [...['Run', 'State', 'val/loss']],
  )

  await page.getByRole('button', { name: 'Columns' }).click()
  const dialog = page.getByRole('dialog', { name: 'Columns' })
  await dialog.getByLabel('Find a metric or hyperparameter').fill('learn')
  await dialog.getByLabel('hparams.learning_rate').check()
  await dialog.getByLabel('Find a metric or hyperparameter').fill('depth')
  await dialog.getByLabel('hparams.depth').check()
  await dialog.getByLabel('Owner').check()
  await page.keyboard.press('Escape')
  await becomes(t, () => rows.allTextContents(), [
    'table-3pending0.750.0014admin',
    'table-2pending0.250.0112admin',
    'table-1pending0.50.0001eightadmin',
  ])
  t.deepEqual(await axeFinds(page), [])

  // Numbers by size, then words; a third click lists the newest first.
  const depth = page.getByRole('columnheader', { name: 'depth' })
  const ids = async () => (await rows.allTextContents()).map(text => text.slice(0, 7))
  await depth.getByRole('button').click()
  await becomes(t, ids, ['table-2', 'table-3', 'table-1'])
  t.is(await depth.getAttribute('aria-sort'), 'descending')
  await depth.getByRole('button').click()
  await becomes(t, ids, ['table-3', 'table-2', 'table-1'])
  await page.getByLabel('Sort by').selectOption({ label: 'hparams.learning_rate, lowest first' })
  await becomes(t, ids, ['table-1', 'table-3', 'table-2'])

  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByLabel('Name of this view').fill('by rate')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('button', { name: 'by rate' }).first().waitFor()
  await page.goto(`${forge.url}/projects/table`)
  await becomes(t, () => titles().count(), 3)
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'by rate', exact: true }).click()
  await becomes(t, () => titles().count(), 6)
  await becomes(t, ids, ['table-1', 'table-3', 'table-2'])
  await keepViews(page, 'console-workspace-columns')
  await page.setViewportSize({ width: 390, height: 800 })
  await fits(page)
  t.deepEqual(faults, [])
})
