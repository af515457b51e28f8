import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { createRun } from '../servers/runs.ts'
import { axeFinds, fits, keepViews, openSignedIn } from './browse.ts'

test('usage is summed by person, project and day, of chosen days, which the address keeps', async t => {
  const forge = await startForge(t)
  await createRun(forge)
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/usage`)
  await page.getByText('No GPU time was used in these days.').waitFor()
  const hour = 3_600_000
  const lines = [
    ['admin', '2026-01-10', 2, 5],
    ['admin', '2026-01-11', 1, 2.5],
    ['ada', '2026-01-11', 4, 12.3456],
    ['ada', '2026-02-01', 100, 999],
  ] as const
  for (const [nth, [owner, day, hours, cost]] of lines.entries())
    await forge.pool.query(
      `insert into read.usage_lines (run_id, nth, owner, project, attempt, day, starts_at, ends_at, sign,
                                     price_per_gpu_hour, gpu_ms, cost_micro)
       values ($1, $2, $3, 'demo', 1, $4::text, ($4::text)::timestamptz, ($4::text)::timestamptz + interval '1 hour',
               1, '2.5', $5, $6)`,
      [`run_${nth}`, nth + 1, owner, day, hours * hour, Math.round(cost * 1e6)],
    )
  await page.getByLabel('From').fill('2026-01-01')
  await page.getByLabel('To', { exact: true }).fill('2026-01-31')
  const cell = (name: string) => page.getByRole('cell', { name, exact: true })
  await cell('ada').waitFor()
  await page.getByRole('definition').filter({ hasText: '19.8' }).waitFor()
  await page.getByTitle('12.3456').first().waitFor()
  await page.getByLabel('By').selectOption('day')
  await cell('2026-01-11').waitFor()
  t.is(await page.getByRole('row').count(), 3, 'two days, and the titles')
  t.regex(page.url(), /by=day/)
  await page.reload()
  await cell('2026-01-10').waitFor()
  t.deepEqual(await axeFinds(page), [])
  await keepViews(page, 'console-usage')
  await fits(page)
  t.deepEqual(faults, [])
})
