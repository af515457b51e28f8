import test, { type ExecutionContext } from 'ava'
import { isMissingScript } from '../../clients/console/src/shell/missing-script.ts'
import { sharedForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { axeFinds, keepViews, openSignedIn } from './browse.ts'

const shared = sharedForge()

test('missing code is distinguished from failing code', t => {
  const missing = 'Failed to fetch dynamically imported module: http://forge/assets/page.js'
  t.true(isMissingScript(new TypeError(missing)))
  t.true(isMissingScript(new Error('Unable to preload CSS for /assets/page.css')))
  t.false(isMissingScript(new TypeError('x is not a function')))
  t.false(isMissingScript(missing))
})

/** The page of the queue, and the addresses of everything that it loaded. */
async function openQueue(t: ExecutionContext) {
  const forge = await shared()
  const { page, faults } = await openSignedIn(t, forge)
  const loaded = new Set<string>()
  page.on('request', request => loaded.add(request.url()))
  await page.goto(`${forge.url}/queue`)
  await page.getByRole('heading', { name: 'Queue', exact: true }).waitFor()
  return { page, faults, known: new Set(loaded) }
}

test('a page whose code cannot be loaded says so within the frame, and works after a reload', async t => {
  const { page, faults, known } = await openQueue(t)
  await page.route(
    url => url.pathname.endsWith('.js') && !known.has(url.href),
    route => route.abort(),
  )
  await page.getByRole('banner').getByRole('link', { name: 'Failures' }).click()
  await page.getByText('The code of this page could not be loaded').waitFor()
  await page
    .getByRole('alert')
    .getByText(/Failed to fetch .*\.js/)
    .waitFor()
  await keepViews(page, 'console-broken')
  await page.setViewportSize({ width: 1280, height: 800 })
  t.deepEqual(await axeFinds(page), [])
  // The frame and the other pages keep working.
  await page.getByRole('link', { name: 'Queue' }).click()
  await page.getByRole('heading', { name: 'Queue', exact: true }).waitFor()
  await page.goBack()
  await page.getByText('The code of this page could not be loaded').waitFor()

  await page.unrouteAll()
  await page.getByRole('button', { name: 'Reload' }).click()
  await page.getByRole('heading', { name: 'Failures', level: 1 }).waitFor()
  t.deepEqual(
    faults.filter(fault => !fault.includes('dynamically imported module')),
    [],
  )
})

test('a page whose script fails says what happened, and works again once it is fixed', async t => {
  const { page, faults, known } = await openQueue(t)
  const body = 'export function Page() { throw new Error("<i>nothing</i> to count") }'
  await page.route(
    url => /\/page-[^/]*\.js$/.test(url.pathname) && !known.has(url.href),
    route => route.fulfill({ contentType: 'text/javascript', body }),
  )
  await page.getByRole('banner').getByRole('link', { name: 'Failures' }).click()
  await page.getByRole('heading', { name: 'This page failed' }).waitFor()
  await page.getByRole('alert').getByText('<i>nothing</i> to count').waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('alert').getByText('<i>nothing</i> to count').waitFor()
  await page.unrouteAll()
  await page.reload()
  await page.getByRole('heading', { name: 'Failures', level: 1 }).waitFor()
  t.deepEqual(
    faults.filter(fault => !fault.includes('nothing')),
    [],
  )
})

test('a chart file that fails to arrive says why, and can be requested again', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  await ingest(forge, run, 'metrics', { points: [{ key: 'loss', step: 1, value: 0.5 }] })
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/runs/${run.run_id}/metrics`)
  const save = async () => {
    await page.getByRole('button', { name: 'Actions: loss' }).click()
    await page.getByRole('menuitem', { name: 'Save as CSV' }).click()
  }
  await page.getByRole('button', { name: 'Actions: loss' }).waitFor()
  await page.route(
    url => url.pathname.endsWith('/metrics/export'),
    route => route.abort(),
  )
  await save()
  const failure = page.getByRole('figure', { name: 'loss' }).getByRole('alert')
  await failure.getByText('The server does not respond').waitFor()
  await page.unrouteAll()
  const saved = page.waitForEvent('download')
  await save()
  t.is((await saved).suggestedFilename(), 'loss.csv')
  await failure.waitFor({ state: 'detached' })
  t.deepEqual(
    faults.filter(fault => !fault.includes('ERR_FAILED')),
    [],
  )
})
