import test from 'ava'
import { pages } from '../../clients/console/src/pages/all.ts'
import { samples } from '../samples/all.ts'
import type { ShownRun } from '../samples/sample.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun, type ExternalRun, ingest } from '../servers/runs.ts'
import { axeFinds, openSignedIn } from './browse.ts'

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

type Addresses = (runs: readonly [ShownRun, ShownRun]) => readonly string[]

const paths = Object.keys(pages)

/** Each page takes seconds, and on a busy machine all of them exceed the time of one test. */
const groups: Record<string, Addresses> = {
  'pages whose addresses name nothing': () => paths.filter(path => !path.includes('$')),
}
const withPages = samples.filter(({ pages: its }) => its)
/** Each group signs in, which is limited to ten times a minute. */
const slicesEach = Math.ceil(withPages.length / 6)
for (let first = 0; first < withPages.length; first += slicesEach) {
  const some = withPages.slice(first, first + slicesEach)
  groups[`further pages of ${some.map(({ slice }) => slice).join(', ')}`] = runs =>
    some.flatMap(({ pages: its }) => its?.(runs) ?? [])
}

test('every page of the console is visited', t => {
  const run = { short_id: 'any-1' }
  const visited = Object.values(groups).flatMap(addresses => addresses([run, run]))
  const isVisited = (path: string) => {
    const pattern = new RegExp(`^${path.replaceAll(/\$\w+/g, '[^/?]+')}(\\?|$)`)
    return visited.some(address => pattern.test(address))
  }
  t.true(paths.length > 10)
  t.deepEqual(
    paths.filter(path => !isVisited(path)),
    [],
    'add an address to `pages` of the sample of its slice, in test/samples/',
  )
})

for (const [group, addresses] of Object.entries(groups))
  test.serial(`axe finds nothing on ${group}, in light and dark`, async t => {
    t.timeout(patient(240_000))
    const { forge, run, other } = await withRuns()
    const { page, faults } = await openSignedIn(t, forge)
    const found: unknown[] = []
    for (const address of addresses([run, other])) {
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
