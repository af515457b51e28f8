import test from 'ava'
import type { Alert } from '../../schemas/alerts.ts'
import type { Diagnosis } from '../../schemas/diagnoses.ts'
import type { Notification } from '../../schemas/notifications.ts'
import { whyFailed } from '../../schemas/why.ts'
import { sharedForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'
import { axeFinds, becomes, fits, keepViews, openSignedIn } from './browse.ts'

const shared = sharedForge()

test('alerts of one kind are one line, with their number and last step', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  const alerts = async () =>
    (await forge.call<Alert[]>('GET', `/api/runs/${run.run_id}/alerts`)).body
  const report = (step: number, value: number | 'NaN') =>
    ingest(forge, run, 'metrics', { points: [{ key: 'train/loss', step, value }] })
  await ingest(forge, run, 'lifecycle', { event: 'running' })
  for (const [nth, step] of [10, 20, 117_600].entries()) {
    await report(step, 'NaN')
    await until('it is raised', 30_000, async () => (await alerts()).length === nth + 1)
    if (step > 20) break
    await report(step + 1, 0.5)
    await until('it is resolved', 30_000, async () => (await alerts())[0]?.state === 'resolved')
  }
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/runs/${run.short_id}`)
  const text = 'train/loss not finite ×3, last at step 117,600'
  const panel = page.getByRole('region', { name: 'Alerts' })
  await becomes(t, () => panel.getByRole('listitem').locator('strong').allTextContents(), [text])
  await becomes(t, () => page.locator('[data-fact=alerts] li').allTextContents(), [text])
  t.deepEqual(await axeFinds(page), [])
  await keepViews(page, 'run-alerts')
  await fits(page)
  await ingest(forge, run, 'alert', { title: 'Reward collapsed', level: 'warn', text: '<b>x</b>' })
  await panel.getByText('Reward collapsed').waitFor()
  await becomes(t, () => panel.getByRole('listitem').count(), 2)
  t.deepEqual(faults, [])
})

test('the head, the diagnosis and the notification give the same reason, and say when it is being looked for', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  await ingest(forge, run, 'lifecycle', { event: 'running' })
  await ingest(forge, run, 'logs', {
    chunks: ['torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0'],
    stream: 'stderr',
  })
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/runs/${run.short_id}`)
  await page.getByRole('main').getByText('running', { exact: true }).first().waitFor()
  // What people see at any time, not only what a test happens to ask for.
  await page.evaluate(() => {
    const seen: string[] = []
    Object.assign(window, { seen })
    new MutationObserver(() => {
      const text = document.querySelector('[data-fact=why]')?.textContent
      if (text && seen.at(-1) !== text) seen.push(text)
    }).observe(document.body, { childList: true, subtree: true, characterData: true })
  })
  await ingest(forge, run, 'lifecycle', { event: 'failed', exit_code: 1 })
  const why = page.locator('[data-fact=why]')
  const newest = async () =>
    (await forge.call<Diagnosis[]>('GET', `/api/runs/${run.run_id}/diagnoses`)).body[0]
  await until('it is diagnosed', 30_000, async () => (await newest())?.status === 'succeeded')
  const title = String((await newest())?.title)
  t.regex(title, /memory/i)
  await becomes(t, () => why.textContent(), title)
  const seen = await page.evaluate(() => (window as unknown as { seen: string[] }).seen)
  t.true(
    seen.some(text => text.endsWith(' · analysing…')),
    seen.join(' | '),
  )
  await page.getByRole('heading', { name: title }).waitFor()
  const alerts = async () =>
    (await forge.call<Alert[]>('GET', `/api/runs/${run.run_id}/alerts`)).body
  await until('it is an alert', 30_000, async () => (await alerts()).length === 1)
  await page.reload()
  await page.getByRole('heading', { name: title }).waitFor()
  // Besides the lines of the log that contain it.
  const said = page.getByRole('main').getByText(title, { exact: true })
  await becomes(t, () => said.count(), 2, 'head and diagnosis')
  const told = async () =>
    (await forge.call<Notification[]>('GET', '/api/notifications')).body.map(one => one.title)
  await until('the notification says so', 30_000, async () =>
    (await told()).includes(`${run.short_id}: ${title}`),
  )
  t.deepEqual(await axeFinds(page), [])
  await keepViews(page, 'run-why')
  type Row = { run_id: string; why: string | null }
  const whyIn = async (path: string) => {
    const { body } = await forge.call<Row | Row[]>('GET', path)
    return [body].flat().find(({ run_id }) => run_id === run.run_id)?.why
  }
  for (const path of [`/api/runs/${run.run_id}`, '/api/runs?state=failed'])
    t.is(await whyIn(path), title, path)
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto(`${forge.url}/runs?q=state:failed`)
  await page.getByRole('row').filter({ hasText: run.short_id }).getByText('failed').hover()
  await page.getByRole('tooltip').getByText(title).waitFor()
  t.deepEqual(faults, [])
})

test('without a finding, the reason is how the run ended', t => {
  const found = { status: 'succeeded', title: 'Out of GPU memory', category: 'gpu_oom' } as const
  const run = { state: 'failed', why: 'exit code 1' }
  t.is(whyFailed(run, undefined), 'exit code 1')
  t.is(whyFailed(run, found), 'Out of GPU memory')
  t.is(whyFailed(run, { ...found, category: 'unknown' }), 'exit code 1')
  t.is(whyFailed(run, { ...found, status: 'running', title: null, category: null }), 'exit code 1')
  t.is(whyFailed({ ...run, why: null }, undefined), null)
  t.is(whyFailed({ state: 'stopped', why: 'somebody stopped it' }, found), 'somebody stopped it')
})
