import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { createRun } from '../servers/runs.ts'
import { axeFinds, keepViews, openPage, signIn } from './browse.ts'

test('a benchmark is found in the palette, and its leaderboard shows scores with their errors', async t => {
  const forge = await startForge(t)
  const definition = {
    ...{ metric: 'exact_match', split: 'test' },
    description: 'Grade-school maths, five examples in the prompt.',
  }
  const { page, faults } = await openPage(t)
  await page.goto(`${forge.url}/benchmarks`)
  await signIn(page)
  await page.getByText('No benchmark is defined yet').waitFor()
  await page.getByRole('button', { name: 'Define a benchmark' }).click()
  const dialog = page.getByRole('dialog', { name: 'Define' })
  await dialog.getByLabel('Name').fill('gsm 8k')
  await dialog.getByLabel('Metric').fill(definition.metric)
  await dialog.getByRole('button', { name: 'Define', exact: true }).click()
  await dialog.getByRole('alert').waitFor()
  t.is(await dialog.getByLabel('Name').getAttribute('aria-invalid'), 'true')
  await dialog.getByLabel('Name').fill('gsm8k')
  await dialog.getByLabel('Split').fill(definition.split)
  await dialog.getByLabel('Harness').fill('lm-eval@0.4.9')
  await dialog.getByLabel('Description').fill(definition.description)
  await dialog.getByRole('button', { name: 'Define', exact: true }).click()
  await page.getByRole('heading', { name: 'gsm8k@1' }).waitFor()
  for (const [value, stderr] of [
    [0.712, 0.012],
    [0.734, 0.011],
    [0.698, null],
    ['NaN', null],
  ]) {
    const { run_id, token } = await createRun(forge)
    const scores = [{ metric: 'exact_match', value, stderr, n: 1319 }]
    const body = { run_id, benchmark: 'gsm8k', version: '1', split: 'test', step: 500, scores }
    const sent = await forge.call('POST', '/api/ingest/benchmark', { token, body })
    t.is(sent.status, 200, JSON.stringify(sent.body))
  }
  await page.goto(forge.url)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('Benchm')
  await page.getByRole('option', { name: /Benchmarks/ }).click()
  await page.getByRole('link', { name: 'gsm8k@1' }).click()
  await page.getByRole('heading', { name: 'gsm8k@1' }).waitFor()
  const rows = page.getByRole('table').getByRole('row')
  await rows.nth(4).waitFor()
  t.regex(await rows.nth(1).innerText(), /^1\s+demo-2\s+0\.734/)
  t.regex(await rows.nth(4).innerText(), /^4\s+demo-4\s+NaN/)
  await page.getByRole('img', { name: 'between 0.723 and 0.745' }).waitFor()
  await page.getByRole('img', { name: '3 scores over time' }).waitFor()
  await keepViews(page, 'console-benchmark')
  t.deepEqual(await axeFinds(page), [])
  await page.getByLabel('Show').selectOption('Every result')
  await page.waitForURL(/each=result/)
  await rows.nth(4).waitFor()
  t.deepEqual(faults, [])
})
