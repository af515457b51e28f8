import test from 'ava'
import { sharedForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { axeFinds, fits, openSignedIn } from './browse.ts'

const shared = sharedForge()
const phone = { width: 390, height: 844 }

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
