import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { keepScreenshot } from '../servers/screenshot.ts'
import { axeFinds, becomes, fits, openSignedIn } from './browse.ts'

test('runs are read in groups: the mean of each, a band around it, and their runs, all of it in the address', async t => {
  const forge = await startForge(t)
  for (let nth = 0; nth < 12; nth++) {
    const run = await createRun(forge, 'sweep')
    await ingest(forge, run, 'hparams', { params: { lr: 10 ** -(1 + (nth % 3)), seed: nth } })
    const points = Array.from({ length: 50 }, (_, step) => ({
      key: 'train/loss',
      step,
      value: (1 + (nth % 3)) * (1 + 1 / (1 + step)) + (nth < 6 ? 0 : 0.5),
    }))
    await ingest(forge, run, 'metrics', { points })
  }
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/projects/sweep`)
  await page.getByText('10 of 12 runs shown').waitFor()
  await page.getByLabel('Group by').selectOption({ label: 'lr' })
  await page.getByText('3 groups of 12 runs').waitFor()
  await page.waitForURL(/group=hparams.lr/)
  const chart = page.getByRole('figure', { name: 'train/loss' })
  await chart.getByText('3 lines').waitFor()
  const rows = page.getByRole('list', { name: 'Groups of runs' }).getByRole('listitem')
  // The last values are 1.02, 2.04 and 3.06 times, half of them 0.5 higher: the mean of 4 runs ± their standard deviation.
  await becomes(t, () => rows.allTextContents(), [
    '▸ 0.0014 runs3.31 ± 0.289',
    '▸ 0.014 runs2.29 ± 0.289',
    '▸ 0.14 runs1.27 ± 0.289',
  ])
  await page.getByLabel('Band').selectOption({ label: 'Mean ± std' })
  await page.waitForURL(/band=std/)
  await keepScreenshot(page, 'console-workspace-groups')
  t.deepEqual(await axeFinds(page), [])

  // Keyboard alone: a group is hidden, and unfolded.
  await page.getByLabel('Show 0.01', { exact: true }).focus()
  await page.keyboard.press('Space')
  await chart.getByText('2 lines').waitFor()
  await page.getByRole('button', { name: '0.001', exact: true }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('list', { name: '0.001' }).getByRole('link', { name: 'sweep-12' }).waitFor()
  const address = page.url()
  await page.goto('about:blank')
  await page.goto(address)
  await chart.getByText('2 lines').waitFor()
  t.false(await page.getByLabel('Show 0.01', { exact: true }).isChecked())
  // A chart of one group names it.
  await page.getByLabel('Show 0.1', { exact: true }).uncheck()
  await chart.locator('figcaption').getByText('0.001', { exact: true }).waitFor()
  await page.setViewportSize({ width: 390, height: 800 })
  await fits(page)
  t.deepEqual(faults, [])
})
