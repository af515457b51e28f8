import test from 'ava'
import { sharedForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { openSignedIn } from './browse.ts'

const shared = sharedForge()
/** Compressed, the typeface included. What draws charts, and what writes YAML, comes after the page around it. */
const mostBytes = 199_000
const comesLater = /\/(plot|spec-text)-[^/]+\.js$/

type Fetched = { address: string; bytes: number }

/** What the browser has fetched to show the page: the page itself and its assets. */
const fetched = `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .filter(({ name, entryType }) => entryType === 'navigation' || name.includes('/assets/'))
  .map(({ name, encodedBodySize }) => ({ address: name, bytes: encodedBodySize }))`

for (const path of ['/', '/projects/demo', '/runs', '/runs/RUN', '/runs/RUN/logs', '/submit'])
  test.serial(`the first load of ${path} is small, with its typeface`, async t => {
    const forge = await shared()
    const run = await createRun(forge)
    await ingest(forge, run, 'lifecycle', { event: 'running' })
    const points = [{ key: 'train/loss', step: 1, value: 0.5 }]
    await ingest(forge, run, 'metrics', { points })
    const { page, faults } = await openSignedIn(t, forge)
    // Then the console loads nothing for the next page.
    await page.addInitScript(
      'Object.defineProperty(navigator, "connection", { value: { saveData: true } })',
    )
    await page.goto(`${forge.url}${path.replace('RUN', run.short_id)}`)
    await page.locator('main h1').first().waitFor()
    await page.waitForFunction(() => !document.body.textContent?.includes('Loading …'))
    await page.evaluate('document.fonts.ready')
    const all = (await page.evaluate(fetched)) as Fetched[]
    const first = all.filter(({ address }) => !comesLater.test(address))
    const sum = first.reduce((bytes, one) => bytes + one.bytes, 0)
    t.log(`${sum} bytes in ${first.length} responses`)
    t.true(first.some(({ address, bytes }) => address.endsWith('.woff2') && bytes > 10_000))
    t.true(first.length > 10, 'it saw what the page loads')
    t.true(sum <= mostBytes, `${sum} bytes: ${JSON.stringify(first)}`)
    t.deepEqual(faults, [])
  })
