import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { axeFinds, fits, keepViews, openSignedIn } from './browse.ts'

test('a bill is compared with that of the month before; budgets and rates are set on its page', async t => {
  const forge = await startForge(t)
  await forge.call('POST', '/api/runs', { body: { project: 'demo' } })
  await forge.pool.query(
    `insert into read.billing_entries (entry_id, kind, owner, project, day, starts_at, ends_at, byte_ms, price_per_gb_month,
                                       cost_micro, reason)
     select 'storage:' || day, 'storage', 'admin', 'demo', day, day::timestamptz, day::timestamptz + interval '1 day',
            86400000000000000, '0.02', cost, ''
       from (values ('2026-01-10', 2500000), ('2026-01-11', 1250000), ('2025-12-31', 800000)) as bills (day, cost)`,
  )
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/billing?month=2026-01`)
  const cell = (name: string) => page.getByRole('cell', { name, exact: true })
  await cell('demo').waitFor()
  await page.getByRole('definition').filter({ hasText: '3.75' }).waitFor()
  await page.getByRole('definition').filter({ hasText: '0.8' }).waitFor()
  await page.getByLabel('By').selectOption('day')
  await cell('2026-01-11').waitFor()
  await page.getByLabel('Name').fill('demo')
  await page.getByLabel('Amount a month').fill('500')
  await page.getByLabel('New jobs wait once it is spent').check()
  await page.getByRole('button', { name: 'Set budget' }).click()
  await cell('Project demo').waitFor()
  await cell('held once it is spent').waitFor()
  await page.getByLabel('Name').fill('none')
  await page.getByRole('button', { name: 'Set budget' }).click()
  await page.getByText('No such project: none').waitFor()
  await page.getByLabel(/^Prices of a GPU-hour/).fill('H100=3.60\nH200=4.20')
  await page.getByRole('button', { name: 'Set rates' }).click()
  await cell('H100 3.60, H200 4.20').waitFor()
  await cell('in force').waitFor()
  t.deepEqual(await axeFinds(page), [])
  await keepViews(page, 'console-billing')
  await fits(page)
  await page.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('There are no budgets.').waitFor()
  // The refusal above.
  t.deepEqual(
    faults.filter(fault => !/404/.test(String(fault))),
    [],
  )
})
