import test from 'ava'
import { sharedForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { becomes, openSignedIn } from './browse.ts'

const shared = sharedForge()
/** The delay of each response: longer than the pause between two refreshes of a workspace. */
const slowMs = 3_500

test('live curves are read to their end before they are read again, however slow the server is', async t => {
  const forge = await shared()
  const runs = await Promise.all(Array.from({ length: 5 }, () => createRun(forge, 'slow')))
  for (const run of runs)
    await ingest(forge, run, 'metrics', { points: [{ key: 'loss', step: 1, value: 1 }] })
  const { page, faults } = await openSignedIn(t, forge)
  const isSeries = (url: URL) => url.pathname.endsWith('/series')
  const aborted: string[] = []
  page.on('requestfailed', request => {
    if (isSeries(new URL(request.url()))) aborted.push(request.url())
  })
  let finished = 0
  page.on('requestfinished', request => {
    if (isSeries(new URL(request.url()))) finished++
  })
  await page.goto(`${forge.url}/projects/slow`)
  await page.locator('figure canvas').first().waitFor()
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Network.enable')
  await devtools.send('Network.emulateNetworkConditions', {
    ...{ offline: false, latency: slowMs, downloadThroughput: -1, uploadThroughput: -1 },
  })
  // The first read of the page may have been aborted before.
  aborted.length = 0
  finished = 0
  await becomes(t, async () => finished >= 3, true)
  t.deepEqual(aborted, [])
  t.deepEqual(faults, [])
})
