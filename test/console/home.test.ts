import test from 'ava'
import { commit } from '../../command-api/commit/commit.ts'
import { abandonRun } from '../../command-api/runs/decide.ts'
import { endRun } from '../../command-api/runs/report.ts'
import { runAt } from '../../events/runs.ts'
import { asExecutor, endedWell } from '../servers/as-executor.ts'
import { eventStoreOn } from '../servers/event-store.ts'
import { sharedForge, startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'
import {
  axeFinds,
  becomes,
  createPerson,
  fits,
  keepViews,
  openPage,
  openSignedIn,
  signIn,
} from './browse.ts'

const shared = sharedForge()

test('a person signs in, and finds running jobs, failures and a way to begin on the home page', async t => {
  const forge = await shared()
  const { page, faults } = await openPage(t)
  await page.goto(forge.url)
  await page.getByLabel('Username').waitFor()
  await keepViews(page, 'console-sign-in')
  await signIn(page, { password: 'not the password' })
  await page.getByRole('alert').getByText('Username or password is wrong').waitFor()
  await signIn(page)
  await page.getByText('You have no running jobs. Submit one:').waitFor()
  await page.getByText('forge submit -f job.yaml').waitFor()

  const { body: run } = await forge.call<{ run_id: string; short_id: string; token: string }>(
    'POST',
    '/api/runs',
    { body: { project: 'demo', name: 'one <b>bold</b> run' } },
  )
  const report = (event: string, more = {}) =>
    forge.call('POST', '/api/ingest/lifecycle', {
      token: run.token,
      body: { run_id: run.run_id, event, ...more },
    })
  await report('running')
  const panel = (name: string) => page.getByRole('region', { name })
  await panel('Running').getByRole('link', { name: 'one <b>bold</b> run' }).waitFor()
  await report('failed', { exit_code: 1, message: 'ValueError: bad' })
  await panel('Recent failures').getByRole('link', { name: run.short_id }).waitFor()
  await panel('Running').getByRole('link', { name: run.short_id }).waitFor({ state: 'detached' })
  await keepViews(page, 'console-home')
  await page.setViewportSize({ width: 360, height: 800 })
  await fits(page)
  t.deepEqual(await axeFinds(page), [])
  t.deepEqual(faults, [])
})

test('all recent failures are one click away, including abandoned runs', async t => {
  const forge = await shared()
  await createPerson(forge, 'ada')
  const { page, faults, ...ada } = await openSignedIn(t, forge, 'ada')
  const [broken, silent] = [await createRun(ada, 'ada'), await createRun(ada, 'ada')]
  for (const run of [broken, silent]) await ingest(forge, run, 'lifecycle', { event: 'running' })
  await ingest(forge, broken, 'lifecycle', { event: 'failed' })
  // As after a day without a report.
  const keeper = {
    actor: { type: 'system', id: 'run-keeper', via: 'timer' },
    requestId: 'test',
  } as const
  const deps = { store: eventStoreOn(forge.pool), now: () => new Date() }
  await commit(deps, keeper, runAt(silent.run_id), {
    decide: run => abandonRun(run, silent.run_id),
    alongside: (tx, { now }) => endRun(tx, silent.run_id, 'abandoned', now),
  })
  await until('one is abandoned', 20_000, async () => {
    const { body } = await forge.call('GET', `/api/runs/${silent.run_id}`)
    return body.state === 'abandoned'
  })
  await page.goto(forge.url)
  const panel = page.getByRole('region', { name: 'Recent failures' })
  await panel.getByText('abandoned').waitFor()
  await panel.getByRole('link', { name: 'All' }).click()
  await page.getByText('2 runs', { exact: true }).waitFor()
  t.deepEqual(faults, [])
})

test('Ctrl-K finds runs by the search grammar, pages and commands, and ? lists the keys', async t => {
  const forge = await shared()
  await createPerson(forge, 'bea')
  const { page, faults, call } = await openSignedIn(t, forge, 'bea')
  await call('POST', '/api/runs', { body: { project: 'bea', name: 'bert base' } })
  await call('POST', '/api/runs', { body: { project: 'other', name: 'bert large' } })
  await page.goto(forge.url)
  await page.getByRole('heading', { name: 'Hello, bea' }).waitFor()
  await page.keyboard.press('Control+k')
  const field = page.getByRole('combobox')
  await field.fill('bert project:other')
  await page.getByRole('option', { name: 'bert large' }).waitFor()
  await page.getByRole('option', { name: 'bert base' }).waitFor({ state: 'detached' })
  await field.fill('theme: dark')
  await page.getByRole('option', { name: 'Theme: dark', exact: true }).waitFor()
  await page.keyboard.press('Enter')
  await becomes(t, () => page.evaluate('document.documentElement.dataset.theme'), 'dark')
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  t.deepEqual(faults, [])
})

test('a job is on the home page from its submission on, and paused time does not count as running time', async t => {
  // Without an executor: the test acts in its place.
  const forge = await startForge(t, { SERVICE_ROLES: 'command-api,relay,projector,query-api' })
  const profile = { series: 'local', gpus_per_node: 4, executor: 'local' }
  await forge.call('PUT', '/api/admin/profiles/local', { body: profile })
  const { body: lock } = await forge.call('GET', '/api/recipes/digits/1.0.0/lock')
  const metadata = { name: 'one job', project: 'demo' }
  const job = { api: 'forge/v2', metadata, lock, spec: {} }
  const { body: run } = await forge.call<{ run_id: string; short_id: string }>(
    'POST',
    '/api/jobs',
    { body: job },
  )
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(forge.url)
  const line = (panel: string, state: string) =>
    page.getByRole('region', { name: panel }).getByRole('listitem').filter({ hasText: state })
  await line('Waiting', 'queued').getByText('waiting for GPUs').waitFor()
  const executor = asExecutor(forge.pool)
  await executor.schedule(run.run_id, [])
  await line('Waiting', 'scheduled').waitFor()
  const order = await executor.launch(run.run_id, 1)
  await executor.executorRunning(run.run_id, 1, new Date().toISOString())
  await line('Waiting', 'starting').waitFor()
  const token = order?.reporting.SERVICE_TOKEN ?? ''
  const running = { run_id: run.run_id, event: 'running' }
  await forge.call('POST', '/api/ingest/lifecycle', { token, body: running })
  await line('Running', 'one job').waitFor()
  await line('Waiting', 'one job').waitFor({ state: 'detached' })

  await forge.call('POST', `/api/jobs/${run.run_id}/pause`, { body: {} })
  await executor.exited(run.run_id, 1, endedWell())
  await line('Waiting', 'paused').waitFor()
  await page.goto(`${forge.url}/runs/${run.short_id}`)
  await page.getByText(/ran for \d s/).waitFor()
  await page.goto(`${forge.url}/runs`)
  const cells = page.getByRole('row').nth(1).getByRole('gridcell')
  await cells.getByText('paused').waitFor()
  await becomes(t, () => cells.nth(6).textContent(), '', 'it does not run on')
  t.deepEqual(faults, [])
})
