import test from 'ava'
import { sections } from '../../clients/console/src/pages/admin/sections.ts'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { axeFinds, openSignedIn } from './browse.ts'

const tabs = [
  ...['overview', 'metrics', 'logs', 'hardware'],
  ...['samples', 'artifacts', 'events', 'environment'],
]

test('axe finds nothing on any page, in light and dark', async t => {
  t.timeout(patient(240_000))
  const forge = await startForge(t)
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
  const pages = [
    ...['/', '/runs', '/runs?group=project', '/queue', '/submit', '/rubrics', '/notifications'],
    ...tabs.map(tab => `/runs/${run.short_id}/${tab}`),
    ...['curves', 'differences', 'scatter'].map(
      part => `/compare?runs=${run.short_id},${other.short_id}&part=${part}`,
    ),
    ...sections.map(({ name }) => `/admin/${name}`),
    ...['/settings', '/device', '/runs/none-1', '/no/such/page'],
  ]
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(forge.url)
  await page.getByRole('link', { name: 'Runs', exact: true }).first().waitFor()
  const found: unknown[] = []
  for (const address of pages) {
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
