import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { seedRuns } from '../servers/seed-runs.ts'
import { openSignedIn } from './browse.ts'

test('one run is found among 100,000, which can be scrolled to their end', async t => {
  t.timeout(patient(120_000))
  const forge = await startForge(t)
  await seedRuns(forge.pool)
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/runs`)
  await page.getByText('more than 10,000 runs').waitFor()
  const grid = page.getByRole('grid', { name: 'Runs' })
  await page.getByRole('link', { name: 'seeded 100000' }).waitFor()
  t.true((await grid.getByRole('row').count()) < 60, 'only visible rows are drawn')

  const search = page.getByRole('combobox', { name: 'Search' })
  await search.fill('hparams.seed:73421')
  await page.keyboard.press('Enter')
  await page.getByText('1 run', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'seeded 73421' }).click()
  await page.getByRole('heading', { level: 1, name: 'seeded 73421' }).waitFor()
  await page.goBack()
  await search.fill('')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'seeded 100000' }).waitFor()
  // The list grows while it is read.
  await page.getByRole('columnheader', { name: 'Created' }).getByRole('button').click()
  await page.getByRole('link', { name: 'seeded 1 list-1-1', exact: true }).waitFor()
  t.deepEqual(faults, [])
})
