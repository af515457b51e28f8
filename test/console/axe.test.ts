import test from 'ava'
import { sections } from '../../clients/console/src/pages/admin/sections.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun, type ExternalRun, ingest } from '../servers/runs.ts'
import { axeFinds, openSignedIn } from './browse.ts'

const tabs = [
  ...['overview', 'metrics', 'logs', 'hardware'],
  ...['samples', 'artifacts', 'events', 'environment'],
]

const shared = sharedForge()
let started: Promise<{ forge: Forge; run: ExternalRun; other: ExternalRun }> | null = null

/** The server with two runs that give every page some content. */
function withRuns() {
  started ??= shared().then(async forge => {
    const [run, other] = [await createRun(forge), await createRun(forge)]
    for (const [nth, one] of [run, other].entries()) {
      await ingest(forge, one, 'lifecycle', { event: 'running' })
      await ingest(forge, one, 'hparams', { params: { lr: 0.1 ** nth } })
      const points = [1, 2, 3].map(step => ({ key: 'train/loss', step, value: 1 / (step + nth) }))
      await ingest(forge, one, 'metrics', { points })
      await ingest(forge, one, 'logs', { chunks: ['\u001b[31mred\u001b[0m', 'plain'] })
      const samples = [{ user: 'one?', assistant: 'two', reward: 0.5 }]
      await ingest(forge, one, 'validation', { step: 1, samples, avg_reward: 0.5 })
    }
    return { forge, run, other }
  })
  return started
}

type PagesOf = (run: ExternalRun, other: ExternalRun) => string[]

/** Each page takes seconds, and on a busy machine all of them exceed the time of one test. */
const groups: Record<string, PagesOf> = {
  'the pages of a run': ({ short_id }) => [
    ...tabs.map(tab => `/runs/${short_id}/${tab}`),
    '/runs/none-1',
  ],
  'lists, comparisons and settings': (run, other) => [
    ...['/', '/runs', '/runs?group=project', '/queue', '/submit', '/rubrics', '/notifications'],
    ...['curves', 'differences', 'scatter'].map(
      part => `/compare?runs=${run.short_id},${other.short_id}&part=${part}`,
    ),
    ...['/settings', '/device', '/no/such/page'],
  ],
  'the administration': () => sections.map(({ name }) => `/admin/${name}`),
}

for (const [pages, pagesOf] of Object.entries(groups))
  test.serial(`axe finds nothing on ${pages}, in light and dark`, async t => {
    t.timeout(patient(240_000))
    const { forge, run, other } = await withRuns()
    const { page, faults } = await openSignedIn(t, forge)
    const found: unknown[] = []
    for (const address of pagesOf(run, other)) {
      await page.goto(`${forge.url}${address}`)
      await page.locator('main h1, main h2').first().waitFor()
      await page.waitForFunction(() => !document.body.textContent?.includes('Loading …'))
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        for (const fault of await axeFinds(page)) found.push([address, colorScheme, ...fault])
      }
    }
    t.deepEqual(found, [])
    t.deepEqual(faults, [])
  })
