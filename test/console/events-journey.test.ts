import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'
import { axeFinds, fits, keepViews, openSignedIn } from './browse.ts'

test('a person reads the history of a run, goes back in time, and sees new events at once', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  await ingest(forge, run, 'lifecycle', { event: 'running' })
  await ingest(forge, run, 'hparams', { params: { '<b>lr</b>': 0.1 } })
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/runs/${run.run_id}/events`)
  const list = page.getByRole('list', { name: 'Events' })
  await list.getByText('The code of demo-1 reported that demo-1 is running').waitFor()
  await list.getByText('added 1 hyperparameter').waitFor()
  const state = (hasText: string | RegExp) =>
    page.locator('[data-fact=state]', { hasText }).waitFor()
  await state(/^running/)

  // Back by keyboard, to before the run began; the address records the position.
  const slider = page.getByRole('slider', { name: 'Show after event' })
  await slider.focus()
  await page.keyboard.press('Home')
  await page.waitForURL(/event=\d+/)
  await state('pending')
  await until('the slider names the event', 20_000, async () =>
    String(await slider.getAttribute('aria-valuetext')).includes('admin created the run demo-1'),
  )
  await list.getByText('project: demo').waitFor()
  const address = page.url()

  const began = Date.now()
  await ingest(forge, run, 'lifecycle', { event: 'failed', exit_code: 3, message: '<i>oh</i>' })
  await list.getByText('failed: <i>oh</i>').waitFor()
  t.true(
    Date.now() - began < patient(8_000),
    'it arrived with the change of state, without polling',
  )
  t.is(page.url(), address)
  await page.reload()
  await state('pending')
  await list.getByRole('link', { name: 'failed: <i>oh</i>' }).click()
  await state('failed')
  await page.getByText('Exit code', { exact: true }).waitFor()

  await page.getByLabel('Filter').fill('hyperparameter')
  await until(
    'one event is left',
    20_000,
    async () => (await list.getByRole('listitem').count()) === 1,
  )
  await page.waitForURL(/q=hyperparameter/)
  await page.getByLabel('Filter').fill('')
  await page.getByRole('button', { name: 'Now' }).click()
  t.deepEqual(await axeFinds(page), [])
  await keepViews(page, 'console-run-events')
  await fits(page)
  t.deepEqual(faults, [])
})
