import { AxeBuilder } from '@axe-core/playwright'
import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'
import { keepViews, openPage, signIn } from './browse.ts'

test('runs are searched, sorted, given columns, kept in the address, chosen and compared', async t => {
  const forge = await startForge(t)
  const ids: string[] = []
  for (let n = 0; n < 130; n++) {
    const { body: run } = await forge.call<{ run_id: string; short_id: string; token: string }>(
      'POST',
      '/api/runs',
      { body: { project: n % 2 ? 'vision' : 'speech', name: `sweep ${n}` } },
    )
    ids.push(run.short_id)
    if (n % 10 !== 0) continue
    const report = (route: string, body: object) =>
      forge.call('POST', `/api/ingest/${route}`, {
        token: run.token,
        body: { run_id: run.run_id, ...body },
      })
    await report('metrics', { points: [{ key: 'loss', step: 1, value: n / 100 }] })
    await report('hparams', { params: { lr: n / 1e6 + 1e-6 } })
  }
  const { page, faults } = await openPage(t)
  await page.goto(`${forge.url}/runs`)
  await signIn(page)
  await page.getByText('130 runs').waitFor()
  await page.getByRole('link', { name: 'sweep 129' }).waitFor()
  const grid = page.getByRole('grid', { name: 'Runs' })
  t.true((await grid.getByRole('row').count()) < 60, 'only what is in view is drawn')
  await grid.focus()
  await page.keyboard.press('End')
  await grid.evaluate(box => box.scrollTo(0, box.scrollHeight))
  await page.getByRole('link', { name: 'sweep 0', exact: false }).last().waitFor()

  const search = page.getByRole('combobox', { name: 'Search' })
  await search.fill('sta')
  await page.getByRole('option', { name: 'state:' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  t.is(await search.inputValue(), 'state:')
  await search.fill('loss<0.45 project:speech')
  await page.keyboard.press('Enter')
  await page.getByText('5 runs').waitFor()
  t.regex(page.url(), /q=loss/)
  await search.fill('(loss<0.45')
  await page.keyboard.press('Enter')
  await page.getByRole('search').getByRole('alert').waitFor()
  await search.fill('loss<0.45')
  await page.keyboard.press('Enter')
  await page.getByText('5 runs').waitFor()

  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByLabel('Add a metric').fill('loss')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('columnheader', { name: 'loss' }).getByRole('button').click()
  await until('the greatest loss is first', 20_000, async () =>
    String(await grid.getByRole('row').nth(1).textContent()).includes('sweep 40'),
  )
  await page.reload()
  await page.getByRole('columnheader', { name: 'loss' }).waitFor()

  for (const n of [0, 10]) await page.getByLabel(`Choose ${ids[n]}`, { exact: true }).check()
  await keepViews(page, 'console-runs')
  await page.setViewportSize({ width: 1280, height: 800 })
  const { violations } = await new AxeBuilder({ page }).analyze()
  t.deepEqual(
    violations.map(({ id, nodes }) => [id, nodes.map(node => node.html)]),
    [],
  )
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.getByRole('link', { name: 'Curves', exact: true }).waitFor()
  await page.locator('canvas').waitFor()
  t.deepEqual(faults, [])
})
