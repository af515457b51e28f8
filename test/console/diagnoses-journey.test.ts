import test from 'ava'
import { failRuns } from '../diagnoses/failed-runs.ts'
import { startForge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'
import { axeFinds, becomes, fits, keepViews, openSignedIn } from './browse.ts'

const oom = 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB'
const missing = "ModuleNotFoundError: No module named 'x'"

test('failures are read by fingerprint: how many, whether they grow, and which runs', async t => {
  const forge = await startForge(t)
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/`)
  await page.getByRole('link', { name: 'Failures', exact: true }).click()
  await page.getByText('No run failed in this period.').waitFor()
  const [newest] = await failRuns(forge, [
    { raised: oom },
    { raised: oom, daysAgo: 1 },
    { raised: oom, daysAgo: 40 },
    { raised: missing, daysAgo: 9, project: 'other' },
    { raised: missing, daysAgo: 41 },
    { raised: missing, daysAgo: 42 },
    { raised: "KeyError: 'epoch'", daysAgo: 2 },
  ])
  await page.reload()
  const rows = page.getByRole('row')
  await rows.filter({ hasText: 'CUDA out of memory' }).waitFor()
  t.is(await rows.count(), 4, 'three, and the titles')
  const first = rows.nth(1)
  await first.getByText('up from 1 in the previous period').waitFor()
  await first.getByText('GPU out of memory', { exact: true }).waitFor()
  const today = new Date().toISOString().slice(0, 10)
  const days = await first.getByRole('img').getAttribute('aria-label')
  t.regex(days ?? '', /^2 in 30 days, at most 1 a day, on \d{4}-\d{2}-\d{2}$/)
  const titles = await first.locator('title').allTextContents()
  t.is(titles.length, 30)
  t.is(titles.at(-1), `${today}: 1`)
  await rows.filter({ hasText: 'The module x' }).getByText('down from 2').waitFor()
  await rows.filter({ hasText: 'KeyError' }).getByText('new, not seen before').waitFor()
  t.deepEqual(await axeFinds(page), [])
  await keepViews(page, 'console-diagnoses')
  await fits(page)
  await page.setViewportSize({ width: 1280, height: 800 })

  await page.getByLabel('Category').selectOption('environment build')
  await becomes(t, () => rows.count(), 2)
  await page.getByLabel('Project').selectOption('other')
  await page.getByLabel('Owner').selectOption('Mine')
  await page.getByLabel('Period').selectOption('Last 7 days')
  await page.getByText('No failure matches these filters.').waitFor()
  const { searchParams } = new URL(page.url())
  t.deepEqual(Object.fromEntries(searchParams), {
    category: 'env_build',
    project: 'other',
    owner: 'admin',
    days: '7',
  })
  await page.reload()
  await page.getByText('No failure matches these filters.').waitFor()
  await page.getByLabel('Period').selectOption('Last 30 days')
  await rows.filter({ hasText: 'The module x' }).waitFor()

  await page.goto(`${forge.url}/diagnoses`)
  await page.getByRole('link', { name: newest?.short_id ?? '', exact: true }).click()
  await page.waitForURL(`**/runs/${newest?.short_id}`)
  const card = page.getByRole('region').filter({ hasText: 'Diagnose again' })
  await card.getByText('GPU out of memory', { exact: true }).waitFor()
  const again = card.getByRole('button', { name: 'Diagnose again' })
  await until('it is diagnosed again', 20_000, async () => {
    const { body } = await forge.call<unknown[]>('GET', `/api/jobs/${newest?.run_id}/diagnoses`)
    if (body.length === 1 && (await again.getAttribute('aria-busy')) === null) await again.click()
    return body.length > 1
  })

  await page.route('**/api/diagnoses/fingerprints?*', route =>
    route.fulfill({ status: 403, json: { detail: 'Not today' } }),
  )
  await page.goto(`${forge.url}/diagnoses`)
  await page.getByRole('alert').filter({ hasText: 'Not today' }).waitFor()
  await page.unroute('**/api/diagnoses/fingerprints?*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await rows.filter({ hasText: 'CUDA out of memory' }).waitFor()

  await page.evaluate("localStorage.setItem('forge.language', 'zh')")
  await page.reload()
  await page.getByText('上升，前一时段 1 次').waitFor()
  await rows.getByText('环境构建失败', { exact: true }).waitFor()
  await keepViews(page, 'console-diagnoses-zh')
  t.deepEqual(faults, [])
})
