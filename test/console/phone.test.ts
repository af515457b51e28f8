import test from 'ava'
import type { Page } from 'playwright-core'
import { sharedForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { keepScreenshot } from '../servers/screenshot.ts'
import { axeFinds, fits, openSignedIn } from './browse.ts'

const shared = sharedForge()
const phone = { width: 390, height: 844 }

/** How far below the top of the page a chart begins, once it is drawn. */
async function topOf(page: Page, name: string): Promise<number> {
  const figure = page.getByRole('figure', { name, exact: true })
  await figure.locator('canvas').waitFor()
  return (await figure.boundingBox())?.y ?? Number.POSITIVE_INFINITY
}

test('on a phone the first chart of every page with charts is in view, and its settings open on request', async t => {
  const forge = await shared()
  const runs = [await createRun(forge, 'small'), await createRun(forge, 'small')]
  for (const run of runs) {
    await ingest(forge, run, 'lifecycle', { event: 'running' })
    const points = [1, 2, 3].map(step => ({ key: 'loss', step, value: 1 / step }))
    await ingest(forge, run, 'metrics', { points })
  }
  const { page, faults } = await openSignedIn(t, forge)
  await page.setViewportSize(phone)
  const ids = runs.map(run => run.short_id)
  for (const path of [
    'projects/small',
    `compare?panels=${encodeURIComponent('[]')}&runs=${ids.join(',')}`,
    `runs/${ids[0]}/metrics`,
  ]) {
    await page.goto(`${forge.url}/${path}`)
    const top = await topOf(page, 'loss')
    t.log(`${path.split('?')[0]}: ${top} px`)
    t.true(top <= 300, `on ${path} it begins at ${top}`)
    await fits(page)
    await keepScreenshot(page, `console-phone-${path.split('/')[0]?.split('?')[0]}`)
  }
  const log = page.getByLabel('Log scale')
  t.false(await log.isVisible())
  await page.getByRole('button', { name: 'Chart settings', expanded: false }).click()
  await log.check()
  await page.waitForURL(/log=1/)
  await page.getByRole('button', { name: 'Chart settings', expanded: true }).waitFor()
  t.deepEqual(await axeFinds(page), [])
  await fits(page)
  t.deepEqual(faults, [])
})

test('on a phone the first chart of a run is in view, and tables are lists', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  await ingest(forge, run, 'lifecycle', { event: 'running' })
  const points = [1, 2, 3].map(step => ({ key: 'train/loss', step, value: 1 / step }))
  await ingest(forge, run, 'metrics', { points })
  const { page, faults } = await openSignedIn(t, forge)
  await page.setViewportSize(phone)
  await page.goto(`${forge.url}/runs/${run.short_id}`)
  const figure = page.getByRole('figure', { name: 'train/loss' })
  await figure.locator('canvas').waitFor()
  const box = await figure.boundingBox()
  t.true(box !== null && box.y <= 300, `it begins at ${box?.y}`)
  await fits(page)

  await page.getByRole('button', { name: 'Pages' }).click()
  await page.getByRole('menuitem', { name: 'Runs' }).click()
  const row = page.getByRole('row').filter({ hasText: run.short_id })
  await row.getByText('running').waitFor()
  await row.getByTitle(/train\/loss/).waitFor()
  t.is(await row.getByRole('gridcell').count(), 3)
  await fits(page)
  t.deepEqual(await axeFinds(page), [])

  await page.goto(`${forge.url}/admin/people`)
  const person = page.getByRole('row').filter({ has: page.getByLabel('Role: admin') })
  const [name, role] = [person.getByRole('cell').nth(0), person.getByRole('cell').nth(1)]
  await name.waitFor()
  const [above, below] = [await name.boundingBox(), await role.boundingBox()]
  t.true(above !== null && below !== null && above.y + above.height <= below.y + 1)
  await fits(page)
  t.deepEqual(await axeFinds(page), [])
  t.deepEqual(faults, [])
})

test('on a phone the name of a run keeps its room next to its state and actions', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  await forge.call('PATCH', `/api/runs/${run.run_id}`, {
    body: { name: 'a run with a name that does not fit' },
  })
  await ingest(forge, run, 'lifecycle', { event: 'running' })
  const { page, faults } = await openSignedIn(t, forge)
  await page.setViewportSize({ width: 320, height: 700 })
  await page.goto(`${forge.url}/runs/${run.short_id}`)
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor()
  const name = await page.getByRole('heading', { level: 1 }).boundingBox()
  t.true((name?.width ?? 0) >= 120, `the name is ${name?.width} px wide`)
  await fits(page)
  t.deepEqual(faults, [])
})

test('on a phone no table is wider than the page', async t => {
  const forge = await shared()
  const { page, faults } = await openSignedIn(t, forge)
  await page.setViewportSize(phone)
  for (const path of ['admin/quotas', 'queue', 'usage', 'admin/audit']) {
    await page.goto(`${forge.url}/${path}`)
    await page.locator('main h1').first().waitFor()
    await page.waitForFunction(() => !document.body.textContent?.includes('Loading …'))
    const wide = await page.evaluate(() =>
      [...document.querySelectorAll('main *')]
        .filter(one => one.scrollWidth > one.clientWidth + 1)
        .filter(one => ['auto', 'scroll'].includes(getComputedStyle(one).overflowX))
        .map(({ outerHTML }) => outerHTML.slice(0, 100)),
    )
    t.deepEqual(wide, [], path)
  }
  await page.goto(`${forge.url}/admin/quotas`)
  const [gpus, jobs] = ['Concurrent GPUs: admin', 'Priority: admin'].map(label =>
    page.getByLabel(label),
  )
  await gpus?.waitFor()
  const [above, below] = [await gpus?.boundingBox(), await jobs?.boundingBox()]
  t.true(above != null && below != null && above.y < below.y, 'limits are below each other')
  t.deepEqual(await axeFinds(page), [])
  t.deepEqual(faults, [])
})
