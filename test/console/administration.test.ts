import test from 'ava'
import { csvOf } from '../../clients/console/src/pages/admin/csv.ts'
import { rulesOf } from '../../clients/console/src/pages/admin/retention-rules.ts'
import { signIn } from '../servers/api.ts'
import { sharedForge, startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'
import { axeFinds, becomes, createPerson, keepViews, openSignedIn } from './browse.ts'

const shared = sharedForge()

test('an export of the audit is CSV that no spreadsheet runs', t => {
  const row = {
    position: 1,
    event_id: 'e1',
    type: 'quota.set',
    target: { type: 'quota', id: 'ada' },
    actor: { type: 'user' as const, id: 'admin', via: 'password' },
    at: '2026-11-23T09:00:00+00:00',
    occurred_at: '2026-11-23T09:00:00.123+00:00',
    request_id: 'r1',
    causation_id: null,
    version: 1,
    summary: '=HYPERLINK("x"), said\nadmin',
    data: {},
  }
  const [titles, line] = csvOf([row]).split('\r\n')
  t.is(titles, 'occurred_at,type,summary,actor,via,target,request_id,event_id')
  t.true(line?.includes(`"'=HYPERLINK(""x""), said\nadmin",user:admin,password,quota:ada`))
})

test('empty fields of retention leave each job its own rules', t => {
  const form = new FormData()
  form.set('project', ' ')
  form.set('latest', '')
  t.deepEqual(rulesOf(form), {})
  form.set('latest', '0')
  form.set('older_than_days', '90')
  t.deepEqual(rulesOf(form), { keep: { latest: 0 }, older_than_days: 90 })
})

test('an administrator edits a quota in its row, and its history shows it', async t => {
  const forge = await shared()
  await createPerson(forge, 'ada')
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/admin/quotas`)
  const field = page.getByLabel('Concurrent GPUs: ada')
  await field.fill('32')
  await page.getByLabel('Priority: ada').fill('7')
  await page.getByLabel('Profiles: ada').fill('local')
  const series = page.getByLabel('By GPU series: ada')
  await series.fill('eight')
  await field.press('Enter')
  await page.getByRole('alert').getByText('Write limits by series as').waitFor()
  await series.fill('H100=8, A100=4/24')
  await field.press('Enter')
  await until('it is saved', 20_000, async () => {
    const { body } = await forge.call('GET', '/api/admin/quotas/ada')
    return body.max_concurrent_gpus === 32
  })
  t.like((await forge.call('GET', '/api/admin/quotas/ada')).body, {
    priority: 7,
    allowed_profiles: ['local'],
    per_series: {
      H100: { max_concurrent_gpus: 8 },
      A100: { max_concurrent_gpus: 4, daily_gpu_hours: 24 },
    },
  })
  await page.reload()
  await becomes(t, () => field.inputValue(), '32')
  await becomes(t, () => series.inputValue(), 'A100=4/24, H100=8')
  await keepViews(page, 'console-quotas')
  await page.locator('form', { has: field }).getByRole('button', { name: 'History' }).click()
  await page.getByRole('dialog').getByText('admin').first().waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  t.deepEqual(faults, [])
})

test('an administrator verifies the audit, and rebuilds a projection', async t => {
  // A rebuild would be visible to the other tests.
  const forge = await startForge(t)
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/admin/audit`)
  await page.getByRole('button', { name: 'Verify the record' }).click()
  await page.getByText(/^The record is intact: \d+ events/).waitFor()
  const { body } = await forge.call<{ head: string }>('GET', '/api/audit/verify')
  const head = page.getByLabel('A saved head')
  await head.fill(body.head.replace(/^[0-9a-f]{4}/, hex => (hex === '0000' ? '1111' : '0000')))
  await head.press('Enter')
  await page.getByRole('alert').getByText('The record was tampered with').waitFor()

  await page.goto(`${forge.url}/admin/projections`)
  await page
    .getByRole('button', { name: /^Rebuild: / })
    .first()
    .click()
  // It waits for the transactions of all tests, which share a PostgreSQL.
  await page.getByText('succeeded').waitFor({ timeout: patient(60_000) })
  const { body: events } = await forge.call<{ type: string }[]>(
    'GET',
    '/api/audit?type=projection.rebuild_requested',
  )
  t.is(events.length, 1)
  t.deepEqual(faults, [])
})

test('every section of the administration is accessible', async t => {
  const forge = await shared()
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/admin`)
  const sections = page.getByRole('navigation', { name: 'Administration' }).getByRole('link')
  await sections.first().waitFor()
  for (const link of await sections.all()) {
    const name = String(await link.textContent())
    await link.click()
    await becomes(t, () => link.getAttribute('aria-current'), 'page')
    await becomes(t, () => page.getByText('Loading …').count(), 0)
    await page.getByRole('heading', { level: 2 }).first().waitFor()
    await keepViews(page, `console-admin-${name.toLowerCase().replace(' ', '-')}`)
    t.deepEqual(await axeFinds(page), [], name)
  }
  t.deepEqual(faults, [])
})

test('the audit fits a wide page, and each row takes one line', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  await ingest(forge, run, 'environment', { python: '3.13.1', packages: { torch: '2.9.0' } })
  const { page, faults } = await openSignedIn(t, forge)
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto(`${forge.url}/admin/audit`)
  const table = page.getByRole('group', { name: 'Audit' })
  await table.getByTitle(`environment:${run.run_id}`).waitFor()
  await becomes(t, () => table.evaluate(one => one.scrollWidth <= one.clientWidth), true)

  await page.goto(`${forge.url}/admin/people`)
  const row = page.getByRole('row').filter({ has: page.getByLabel('Role: admin') })
  await row.getByRole('button', { name: 'Disable' }).waitFor()
  const middle = (text: string) =>
    row.getByText(text, { exact: true }).evaluate(one => {
      const range = document.createRange()
      range.selectNodeContents(one)
      const { top, bottom } = range.getBoundingClientRect()
      return (top + bottom) / 2
    })
  await until('they stand on one line', 20_000, async () => {
    const [name, button] = [await middle('admin'), await middle('Disable')]
    return Math.abs(name - button) < 3
  })
  t.deepEqual(faults, [])
})

test('the filter of the audit matches the address, even after going back', async t => {
  const forge = await shared()
  await createRun(forge)
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/admin/audit?actor=user%3Aadmin`)
  const type = page.getByLabel('Event type')
  await type.fill('run.*')
  await page.keyboard.press('Enter')
  await page.waitForURL(/type=run/)
  t.true(await type.evaluate(one => one === document.activeElement), 'the focus stays')
  await page.goBack()
  await becomes(t, () => type.inputValue(), '')
  await becomes(t, () => page.getByLabel('Who').inputValue(), 'user:admin')
  await page.goForward()
  await becomes(t, () => type.inputValue(), 'run.*')
  t.deepEqual(faults, [])
})

test('a member sees why the administration is closed', async t => {
  const forge = await shared()
  await createPerson(forge, 'bea')
  const { page, faults } = await openSignedIn(t, forge, 'bea')
  await page.goto(`${forge.url}/admin/audit`)
  await page.getByText('Only administrators can see this').waitFor()
  await page.getByRole('heading', { level: 1, name: 'Administration' }).waitFor()
  t.is(await page.getByRole('navigation', { name: 'Administration' }).count(), 0)
  t.is(await page.getByRole('button', { name: 'Admin', exact: true }).count(), 0)
  await page.keyboard.press('Control+k')
  await page.getByRole('option', { name: 'Rubrics' }).waitFor()
  t.is(await page.getByRole('option', { name: 'Administration' }).count(), 0)
  t.deepEqual(faults, [])
})

test('signing out in one tab signs out all', async t => {
  const forge = await shared()
  await createPerson(forge, 'carl')
  const token = await signIn(forge.url, 'carl')
  const { page, another, faults } = await openSignedIn(t, forge, 'carl')
  await page.goto(`${forge.url}/settings`)
  await page.getByRole('heading', { name: 'Settings' }).waitFor()
  const other = await another()
  await other.goto(`${forge.url}/queue`)
  await other.getByRole('heading', { name: 'Queue', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Sign out everywhere' }).click()
  await other.getByText('You signed out in another tab').waitFor()
  await page.getByLabel('Username').waitFor()
  await other.getByRole('heading', { name: 'Queue', exact: true }).waitFor({ state: 'detached' })
  const { status } = await forge.call('GET', '/api/auth/sessions', { token })
  t.is(status, 401, 'the session of the test ended as well')
  t.deepEqual(faults, [])
})
