import { AxeBuilder } from '@axe-core/playwright'
import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'
import { keepViews, openPage, signIn } from './browse.ts'

test('a person reads what happened to a run, goes back in time, and sees new events at once', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  await ingest(forge, run, 'lifecycle', { event: 'running' })
  await ingest(forge, run, 'hparams', { params: { '<b>lr</b>': 0.1 } })
  const { page, faults } = await openPage(t)
  await page.goto(`${forge.url}/runs/${run.run_id}/events`)
  await signIn(page)
  const list = page.getByRole('list', { name: 'Events' })
  await list.getByText('The code of demo-1 said that demo-1 is running').waitFor()
  await list.getByText('added 1 hyperparameter').waitFor()
  const state = page.locator('[data-fact=state]')
  t.regex(String(await state.textContent()), /^running/)

  // Back by keyboard, to before the run began; the address says where.
  const slider = page.getByRole('slider', { name: 'After which event' })
  await slider.focus()
  await page.keyboard.press('Home')
  await until('the first event is chosen', 20_000, async () => /event=\d+/.test(page.url()))
  await page.locator('[data-fact=state]', { hasText: 'pending' }).waitFor()
  t.regex(String(await slider.getAttribute('aria-valuetext')), /admin created the run demo-1/)
  await list.getByText('project: demo').waitFor()
  const address = page.url()

  const began = Date.now()
  await ingest(forge, run, 'lifecycle', { event: 'failed', exit_code: 3, message: '<i>oh</i>' })
  await list.getByText('failed: <i>oh</i>').waitFor()
  t.true(Date.now() - began < patient(8_000), 'it came with the change of state, not by looking')
  t.is(page.url(), address)
  await page.reload()
  await page.locator('[data-fact=state]', { hasText: 'pending' }).waitFor()
  await list.getByRole('link', { name: 'failed: <i>oh</i>' }).click()
  await page.locator('[data-fact=state]', { hasText: 'failed' }).waitFor()
  await page.getByText('Exit code', { exact: true }).waitFor()

  await page.getByLabel('Filter').fill('hyperparameter')
  await until(
    'one event is left',
    20_000,
    async () => (await list.getByRole('listitem').count()) === 1,
  )
  t.regex(page.url(), /q=hyperparameter/)
  await page.getByLabel('Filter').fill('')
  await page.getByRole('button', { name: 'Now' }).click()
  t.deepEqual((await new AxeBuilder({ page }).analyze()).violations, [])
  await keepViews(page, 'console-run-events')
  await until('it fits', 20_000, () =>
    page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
  )
  t.deepEqual(faults, [])
})
