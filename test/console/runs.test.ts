import test from 'ava'
import type { Locator } from 'playwright-core'
import { sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun, type ExternalRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'
import { axeFinds, becomes, createPerson, keepViews, openSignedIn } from './browse.ts'

/** Restricts everybody's view to the runs of one test. */
const shared = sharedForge()

test('runs are searched, sorted, given columns, kept in the address, selected and compared', async t => {
  const forge = await shared()
  await createPerson(forge, 'ada')
  const { page, faults, call } = await openSignedIn(t, forge, 'ada')
  const ids: string[] = []
  for (let n = 0; n < 130; n++) {
    const { body: run } = await call<ExternalRun>('POST', '/api/runs', {
      body: { project: n % 2 ? 'images' : 'sounds', name: `sweep ${n}` },
    })
    ids.push(run.short_id)
    if (n % 10 !== 0) continue
    await ingest(forge, run, 'metrics', { points: [{ key: 'loss', step: 1, value: n / 100 }] })
    await ingest(forge, run, 'hparams', { params: { lr: n / 1e6 + 1e-6 } })
  }
  await page.goto(`${forge.url}/runs`)
  await page.getByText('130 runs').waitFor()
  await page.getByRole('link', { name: 'sweep 129' }).waitFor()
  const grid = page.getByRole('grid', { name: 'Runs' })
  t.true((await grid.getByRole('row').count()) < 60, 'only visible rows are drawn')
  await grid.focus()
  await page.keyboard.press('End')
  await grid.evaluate(box => box.scrollTo(0, box.scrollHeight))
  await page.getByRole('link', { name: 'sweep 0', exact: false }).last().waitFor()

  const search = page.getByRole('combobox', { name: 'Search' })
  await search.fill('sta')
  await page.getByRole('option', { name: 'state:' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await becomes(t, () => search.inputValue(), 'state:')
  await search.fill('loss<0.45 project:sounds')
  await page.keyboard.press('Enter')
  await page.getByText('5 runs').waitFor()
  await page.waitForURL(/q=loss/)
  await search.fill('(loss<0.45')
  await page.keyboard.press('Enter')
  await page.getByRole('search').getByRole('alert').waitFor()
  await search.fill('loss<0.45')
  await page.keyboard.press('Enter')
  await page.getByText('5 runs').waitFor()

  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByLabel('Find a metric or hyperparameter').fill('loss')
  await page.getByRole('checkbox', { name: 'loss' }).check()
  await page.keyboard.press('Escape')
  // The column of each run's best metric shows it, too.
  const loss = page.getByRole('columnheader', { name: 'loss' }).last()
  await loss.getByRole('button').click()
  await until('the greatest loss is first', 20_000, async () =>
    String(await grid.getByRole('row').nth(1).textContent()).includes('sweep 40'),
  )
  await page.reload()
  await loss.getByRole('button').waitFor()

  for (const n of [0, 10]) await page.getByLabel(`Select ${ids[n]}`, { exact: true }).check()
  await keepViews(page, 'console-runs')
  await page.setViewportSize({ width: 1280, height: 800 })
  t.deepEqual(await axeFinds(page), [])
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.getByRole('link', { name: 'Curves', exact: true }).waitFor()
  await page.locator('canvas').waitFor()
  t.deepEqual(faults, [])
})

test('columns of hyperparameters, groups, ranges and the keyboard, with states as they change', async t => {
  const forge = await shared()
  await createPerson(forge, 'bea')
  const { page, faults, ...bea } = await openSignedIn(t, forge, 'bea')
  const runs: ExternalRun[] = []
  for (const project of ['speech', 'speech', 'speech', 'speech', 'vision', 'vision'])
    runs.push(await createRun(bea, project))
  const [first, second, ...others] = runs
  if (!first || !second) throw new Error('there are six')
  await ingest(forge, first, 'hparams', { params: { 'opt,name': 'adam<b>w</b>', lr: 0.5 } })
  await ingest(forge, second, 'metrics', { points: [{ key: 'a,b', step: 1, value: 0.125 }] })
  for (const run of others.slice(0, 2))
    await ingest(forge, run, 'lifecycle', { event: 'succeeded' })
  await page.goto(`${forge.url}/runs?sort=created_at`)
  await page.getByText('6 runs').waitFor()

  await page.getByRole('button', { name: 'Columns' }).click()
  const find = page.getByLabel('Find a metric or hyperparameter')
  await find.fill('NAME')
  await page.getByRole('checkbox', { name: 'hparams.opt,name' }).check()
  await find.fill('a,')
  await page.getByRole('checkbox', { name: 'a,b' }).check()
  await find.fill('')
  await page.getByRole('checkbox', { name: 'hparams.lr' }).waitFor()
  await keepViews(page, 'console-runs-columns')
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.keyboard.press('Escape')
  await page.getByRole('gridcell', { name: 'adam<b>w</b>' }).waitFor()
  await page.getByTitle('0.125', { exact: true }).waitFor()
  await page.reload()
  await page.getByRole('gridcell', { name: 'adam<b>w</b>' }).waitFor()
  await page.getByTitle('0.125', { exact: true }).waitFor()

  // Nobody has clicked the table.
  const at = (nth: number) => page.getByRole('row').nth(nth + 1)
  await page.keyboard.press('x')
  await becomes(t, () => isChosen(at(0)), true)
  for (const key of ['j', 'j', 'X']) await page.keyboard.press(key)
  await page.getByText('3 selected').waitFor()
  await at(5)
    .getByRole('checkbox')
    .click({ modifiers: ['Shift'] })
  await page.getByText('6 selected').waitFor()
  await page.getByRole('checkbox', { name: 'Select all rows loaded so far' }).uncheck()
  await page.getByText('6 selected').waitFor({ state: 'detached' })

  // It ends while it is selected, so there is nothing to stop.
  await at(0).getByRole('checkbox').check()
  const stop = page.getByRole('button', { name: 'Stop', exact: true })
  await ingest(forge, first, 'lifecycle', { event: 'failed' })
  await at(0).getByText('failed').waitFor()
  await until('it cannot be stopped', 20_000, async () =>
    Boolean(await stop.getAttribute('aria-disabled')),
  )
  await page.getByRole('button', { name: 'Clear selection' }).click()

  const search = page.getByRole('combobox', { name: 'Search' })
  await search.fill('owner:be')
  await page.getByRole('option', { name: 'owner:bea' }).waitFor()
  await search.fill('')

  await page.getByRole('button', { name: 'Group by project' }).click()
  const speech = page.getByRole('button', { name: /speech 4 runs/ })
  await speech.click()
  await becomes(t, () => page.getByRole('row').count(), 5)
  await page.waitForURL(/group=project.*closed=speech|closed=speech.*group=project/)
  await page.reload()
  await becomes(t, () => speech.getAttribute('aria-expanded'), 'false')
  await page.getByRole('row').nth(4).getByText('vision-2').waitFor()
  await keepViews(page, 'console-runs-grouped')
  await page.setViewportSize({ width: 1280, height: 800 })
  t.deepEqual(await axeFinds(page), [])

  await page.goto(`${forge.url}/runs?cols=`)
  await page.getByText('6 runs').waitFor()
  const headers = page.getByRole('columnheader')
  await becomes(t, () => headers.count(), 1, 'only the header of the selection')
  t.deepEqual(faults, [])
})

test('an invalid search is reported once, and not retried', async t => {
  const forge = await shared()
  await createPerson(forge, 'carl')
  const { page, faults, ...carl } = await openSignedIn(t, forge, 'carl')
  const run = await createRun(carl, 'carl')
  const asked: string[] = []
  page.on('request', request => {
    if (request.url().includes('/api/runs?q=')) asked.push(request.url())
  })
  await page.goto(`${forge.url}/runs`)
  await page.getByText('1 run', { exact: true }).waitFor()
  await page.getByRole('combobox', { name: 'Search' }).fill('state:failed lr>')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('A name or a value is missing here').waitFor()
  await becomes(t, () => page.getByRole('alert').count(), 1)
  await becomes(t, () => page.locator('[aria-busy=true]').count(), 0, 'nothing is on its way')

  // The chooser's content is read again with the list.
  await page.getByRole('button', { name: 'Columns' }).click()
  await page
    .getByText('No such name')
    .or(page.getByRole('checkbox', { name: 'Run' }))
    .first()
    .waitFor()
  const again = page.waitForResponse(response => response.url().includes('/api/runs/names'))
  await ingest(forge, run, 'lifecycle', { event: 'succeeded' })
  await again
  t.is(asked.length, 1)
  t.deepEqual(faults, [])
})

test('the keys act on the marked run, even after it has moved', async t => {
  t.timeout(patient(90_000))
  const forge = await shared()
  await createPerson(forge, 'dora')
  const { page, faults, ...dora } = await openSignedIn(t, forge, 'dora')
  const runs: ExternalRun[] = []
  for (let n = 0; n < 23; n++) runs.push(await createRun(dora, n === 0 ? 'first' : 'others'))
  await page.goto(`${forge.url}/runs`)
  await page.getByText('23 runs').waitFor()
  const row = (nth: number) => {
    const has = page.getByLabel(`Select ${runs[nth]?.short_id}`, { exact: true })
    return page.getByRole('row').filter({ has })
  }
  const arrives = async () => {
    runs.push(await createRun(dora, 'others'))
    await row(runs.length - 1).waitFor()
  }
  // Newest first: the cursor is on the second one, and another comes above it.
  await row(22).waitFor()
  await page.keyboard.press('j')
  await arrives()
  await page.keyboard.press('x')
  await page.getByText('1 selected').waitFor()
  await becomes(t, () => isChosen(row(21)), true, 'not the run that stands in its line now')
  await arrives()
  for (const key of ['j', 'X']) await page.keyboard.press(key)
  await page.getByText('2 selected').waitFor()
  const chosen = () => Promise.all([23, 22, 21, 20].map(nth => isChosen(row(nth))))
  await becomes(t, chosen, [false, false, true, true])

  // A range starts again with each search.
  const search = page.getByRole('combobox', { name: 'Search' })
  await search.fill('project:others')
  await page.keyboard.press('Enter')
  await page.getByText('24 runs').waitFor()
  await row(15)
    .getByRole('checkbox')
    .click({ modifiers: ['Shift'] })
  await page.getByText('3 selected').waitFor()

  await search.fill('')
  await page.keyboard.press('Enter')
  await page.getByText('25 runs').waitFor()
  await page.getByRole('checkbox', { name: 'Select all rows loaded so far' }).check()
  await page.getByText('25 selected').waitFor()
  await page.getByRole('button', { name: 'Stop', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Stop' })
  await dialog.getByText('these 25 runs').waitFor()
  await dialog.getByText('and 5 more').waitFor()
  await becomes(t, () => dialog.getByRole('listitem').count(), 21)
  await keepViews(page, 'console-runs-stop')
  await page.setViewportSize({ width: 1280, height: 800 })
  t.deepEqual(await axeFinds(page), [])
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Clear selection' }).click()
  await row(0).getByRole('checkbox').check()
  await page.getByRole('button', { name: 'Stop', exact: true }).click()
  await dialog.getByRole('listitem').filter({ hasText: 'first' }).waitFor()
  await dialog.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('Done for 1').waitFor()
  t.deepEqual(faults, [])
})

const isChosen = async (row: Locator) => (await row.getAttribute('aria-selected')) === 'true'
