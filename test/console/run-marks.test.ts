import test from 'ava'
import { sharedForge } from '../servers/forge.ts'
import { createRun, type ExternalRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'
import { axeFinds, becomes, createPerson, keepViews, openSignedIn } from './browse.ts'

const shared = sharedForge()

test('external runs are starred, tagged and archived in the list, and come back', async t => {
  const forge = await shared()
  await createPerson(forge, 'mia')
  const { page, faults, call } = await openSignedIn(t, forge, 'mia')
  const runs: ExternalRun[] = []
  for (let n = 0; n < 3; n++) runs.push(await createRun({ call }, 'marks'))
  const [first, second, third] = runs
  if (!first || !second || !third) throw new Error('there are three')
  const read = async (run: ExternalRun) =>
    (
      await call<{ starred: boolean; archived: boolean; tags: string[] }>(
        'GET',
        `/api/runs/${run.run_id}`,
      )
    ).body
  await page.goto(`${forge.url}/runs`)
  await page.getByText('3 runs', { exact: true }).waitFor()

  // The newest is the first row, and nobody has clicked the table.
  const star = (run: ExternalRun) =>
    page.getByRole('button', { name: `Star ${run.short_id}`, exact: true })
  await page.keyboard.press('*')
  await becomes(t, () => star(third).getAttribute('aria-pressed'), 'true')
  t.true((await read(third)).starred)
  await star(first).click()
  await becomes(t, () => star(first).getAttribute('aria-pressed'), 'true')
  await page.keyboard.press('*')
  await becomes(t, () => star(third).getAttribute('aria-pressed'), 'false')
  await page.getByRole('button', { name: 'Starred', exact: true }).click()
  await page.getByText('1 run', { exact: true }).waitFor()
  await page.waitForURL(/starred=true/)
  await page.getByRole('button', { name: 'Starred', exact: true }).click()
  await page.getByText('3 runs', { exact: true }).waitFor()

  const choose = (run: ExternalRun) =>
    page.getByLabel(`Select ${run.short_id}`, { exact: true }).check()
  await choose(first)
  await choose(second)
  await page.getByRole('button', { name: 'Tag', exact: true }).click()
  await page.getByRole('dialog').getByLabel('Tag').fill('kept')
  await page.keyboard.press('Enter')
  await page.getByText('Done for 2').waitFor()
  t.deepEqual((await read(second)).tags, ['kept'])

  await page.getByRole('button', { name: 'Archive', exact: true }).click()
  await page.getByText('2 runs archived').waitFor()
  await page.getByText('1 run', { exact: true }).waitFor()
  t.true((await read(second)).archived)
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('2 runs taken out of the archive').waitFor()
  await page.getByText('3 runs', { exact: true }).waitFor()

  await choose(second)
  await page.getByRole('button', { name: 'Archive', exact: true }).click()
  await page.getByText('1 run archived').waitFor()
  await page.getByRole('button', { name: 'Archived', exact: true }).click()
  await page.waitForURL(/archived=true/)
  await page.getByRole('link', { name: second.short_id }).waitFor()
  await page.getByText('1 run', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Group by project' }).click()
  await page.getByRole('button', { name: /marks 1 run$/ }).waitFor()
  await page.getByRole('button', { name: 'Group by project' }).click()
  t.deepEqual(await axeFinds(page), [])

  // A saved view keeps it, and so does a search that names it.
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByLabel('Name of the view').fill('put away')
  await page.getByRole('button', { name: 'Save this view' }).click()
  await page.keyboard.press('Escape')
  await page.goto(`${forge.url}/runs`)
  await page.getByText('2 runs', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByRole('button', { name: 'put away', exact: true }).click()
  await page.getByRole('link', { name: second.short_id }).waitFor()
  await page.goto(`${forge.url}/runs?q=archived:true`)
  await page.getByText('1 run', { exact: true }).waitFor()

  await choose(second)
  await page.getByRole('button', { name: 'Take out of the archive' }).click()
  await page.getByText('1 run taken out of the archive').waitFor()
  t.false((await read(second)).archived)
  t.deepEqual(faults, [])
})

test('numbers have three digits, their whole value on hover, and their right edges in one line', async t => {
  const forge = await shared()
  await createPerson(forge, 'noa')
  const { page, faults, call } = await openSignedIn(t, forge, 'noa')
  const values = [0.123456, 12.5, 1234567]
  const runs: ExternalRun[] = []
  for (const value of values) {
    const run = await createRun({ call }, 'digits')
    await ingest(forge, run, 'metrics', {
      points: [
        { key: 'a/first', step: 1, value: 7 },
        { key: 'loss', step: 1, value },
      ],
    })
    runs.push(run)
  }
  await call('PATCH', `/api/runs/${runs[0]?.run_id}`, { body: { notes: 'the *baseline*\nmore' } })
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto(`${forge.url}/runs?sort=created_at`)
  const cells = page.getByRole('gridcell').filter({ has: page.locator('[title*="loss (last)"]') })
  await becomes(t, () => cells.allTextContents(), ['0.123', '12.5', '1.23e+6'])
  await page.getByTitle('loss (last) 0.123456', { exact: true }).waitFor()
  await page.getByRole('columnheader', { name: 'loss' }).waitFor()
  const edges = await cells
    .locator('span')
    .evaluateAll(all => all.map(one => one.getBoundingClientRect().right))
  t.is(new Set(edges.map(Math.round)).size, 1, edges.join())
  await page.goto(`${forge.url}/runs?sort=created_at&cols=name,notes,best`)
  await page.getByRole('gridcell', { name: 'the *baseline*', exact: true }).waitFor()
  t.deepEqual(faults, [])
})

test('a screen of 1440 × 900 shows 28 runs at once', async t => {
  const forge = await shared()
  await createPerson(forge, 'ola')
  const { page, faults, call } = await openSignedIn(t, forge, 'ola')
  for (let n = 0; n < 40; n++)
    await call('POST', '/api/runs', {
      body: { project: 'rows', name: n % 2 ? '很长的名字🚀'.repeat(16) : `run ${n}` },
    })
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto(`${forge.url}/runs`)
  await page.getByText('40 runs', { exact: true }).waitFor()
  const whole = () =>
    page.getByRole('grid').evaluate(box => {
      const { top, bottom } = box.getBoundingClientRect()
      const rows = [...box.querySelectorAll('[role=rowgroup] > [role=row]')]
      return rows.filter(row => {
        const at = row.getBoundingClientRect()
        return at.top >= top && at.bottom <= Math.min(bottom, innerHeight)
      }).length
    })
  await until('28 rows are in view', 20_000, async () => (await whole()) >= 28)
  t.true(
    await page.evaluate('document.documentElement.scrollHeight <= innerHeight'),
    'the page does not scroll',
  )
  t.deepEqual(await axeFinds(page), [])
  await keepViews(page, 'console-runs-marks')
  t.deepEqual(faults, [])
})
