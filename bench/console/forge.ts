import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Client } from 'pg'
import type { Browser, Page } from 'playwright-core'
import { adminPassword } from '../../test/servers/api.ts'
import { seedRuns } from '../../test/servers/seed-runs.ts'
import type { Target } from '../chart.ts'
import { createRuns, type ExternalRun } from '../rig/api.ts'
import { fillRun } from '../rig/fill-run.ts'
import { fillLog, logCopies, rare } from './log.ts'
import { openScreen, scrollFrames, type Tasks, tasks, untilDrawn } from './screen.ts'

type Rig = { target: Target; client: Client; browser: Browser; times: number }

const charts = 20
const runs = 10
const steps = 10_000
const keys = Array.from(
  { length: charts },
  (_, nth) => `loss_of_part/${'abcdefghijklmnopqrst'[nth]}`,
)
/** Room for all charts at once. */
const screenOfCharts = { width: 2000, height: 1400 }

/** Pages of the console, opened and used by a browser on the machine of the server. */
export async function measureForge({ target, client, browser, times }: Rig) {
  const compared = await createRuns(target.url, target.token, 'curves', runs)
  for (const run of compared) await fillRun(target, run, keys, steps)
  const [large, logged, live] = await createRuns(target.url, target.token, 'large', 3)
  if (!large || !logged || !live) throw new Error('no run was created')
  await fillRun(target, large, ['train/loss'], 200_000)
  await fillLog(target, logged, client)
  await seedRuns(client)
  const page = await signedIn(browser, target)
  const measured = tasks(page, target.url, times)
  await measured.open('open the list of 100,000 runs', 1500, '/runs', rowsShown, 15)
  const frames = await scrollFrames(page, '[role=grid]', 5)
  measured.add('a frame while it scrolls (p50, p95)', 20, { p50: frames.p50, max: frames.p95 })
  const ofRun = `/runs/${large.run_id}/metrics`
  await measured.open('open a run with 200,000 points', 1000, ofRun, chartsShown, 1)
  const all = encodeURIComponent(compared.map(({ run_id }) => run_id).join(','))
  await measured.open('compare 10 runs', 1000, `/compare?runs=${all}`, chartsShown, 1)
  await page.setViewportSize(screenOfCharts)
  const whole = `/compare?runs=${all}`
  await measured.open('20 charts of 10 runs, 10,000 steps each', 1000, whole, allShown, null)
  await measureZoom(page, times, measured)
  const search = `/runs/${logged.run_id}/logs?grep=${encodeURIComponent(rare)}`
  await measured.open('search 1.1 GB of log: the first of 11 hits', 1000, search, linesShown, 1)
  await measured.open('search it to its end', null, search, linesShown, logCopies)
  await measureLive(page, target, live, measured)
  return measured.found
}

async function signedIn(browser: Browser, { url }: Target): Promise<Page> {
  const page = await openScreen(browser)
  await page.goto(url)
  await page.getByLabel('Username').fill('admin')
  await page.getByLabel('Password').fill(adminPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Runs', exact: true }).first().waitFor()
  return page
}

async function measureZoom(page: Page, times: number, { addAll }: Tasks): Promise<void> {
  const seen: number[] = []
  const refined: number[] = []
  for (let n = 0; n < times; n++) {
    const box = await page.locator('.u-over').first().boundingBox()
    if (!box) throw new Error('no chart to zoom')
    await page.mouse.move(box.x + box.width * 0.4, box.y + box.height / 2)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * (0.6 + n / 100), box.y + box.height / 2, { steps: 4 })
    const began = await page.evaluate(() => performance.now())
    const since = async () => (await page.evaluate(() => performance.now())) - began
    await page.mouse.up()
    await untilDrawn(page, isZoomed, null)
    seen.push(await since())
    await untilDrawn(page, allShown, null)
    refined.push(await since())
    await page.getByRole('button', { name: 'Show all' }).click()
    await untilDrawn(page, allShown, null)
  }
  addAll('zoom all of them', 150, seen)
  addAll('the finer lines of the zoom', null, refined)
}

const liveTimes = 20
const script = join(import.meta.dirname, 'live.py')

/** Runs a script that logs a point whenever a line is written to it. */
function startScript({ url }: Target, run: ExternalRun) {
  const child = spawn('python3', [script], {
    env: {
      ...process.env,
      PYTHONPATH: join(import.meta.dirname, '../../clients/python/src'),
      SERVICE_ENABLED: '1',
      SERVICE_ENDPOINT: `${url}/api/ingest`,
      SERVICE_RUN_ID: run.run_id,
      SERVICE_TOKEN: run.token,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    /** The time just before the call of `log`, milliseconds of the epoch. */
    async log(step: number): Promise<number> {
      child.stdin.write(`${step}\n`)
      return Number((await lines.next()).value)
    },
    end: () => child.stdin.end(),
  }
}

async function measureLive(page: Page, target: Target, run: ExternalRun, { addAll }: Tasks) {
  const client = startScript(target, run)
  await client.log(0)
  await page.goto(`${target.url}/runs/${run.run_id}/metrics`)
  await page.getByText('at step 0').waitFor()
  const took: number[] = []
  for (let step = 1; step <= liveTimes; step++) {
    // Lines arrive at their own times, not in step with the page.
    await page.waitForTimeout(1500 + 37 * step)
    const began = await client.log(step)
    await untilDrawn(page, isAtStep, step)
    took.push((await page.evaluate(() => Date.now())) - began)
  }
  client.end()
  addAll('log() to the screen', 1000, took)
}

/**
 * Watches a run that reports twice a second: the memory of its page after garbage collection, in megabytes, minute by
 * minute.
 */
export async function watchMemory(
  browser: Browser,
  target: Target,
  minutes: number,
): Promise<number[]> {
  const [run] = await createRuns(target.url, target.token, 'live', 1)
  if (!run) throw new Error('no run was created')
  const page = await signedIn(browser, target)
  const client = startScript(target, run)
  await client.log(0)
  await page.goto(`${target.url}/runs/${run.run_id}/metrics`)
  await page.getByText('at step 0').waitFor()
  const session = await page.context().newCDPSession(page)
  const megabytes: number[] = []
  for (let minute = 1, step = 1; minute <= minutes; minute++) {
    for (const end = Date.now() + 60_000; Date.now() < end; step++) {
      await client.log(step)
      await page.waitForTimeout(500)
    }
    await session.send('HeapProfiler.collectGarbage')
    megabytes.push((await session.send('Runtime.getHeapUsage')).usedSize / 1e6)
    console.error(`minute ${minute}, step ${step}: ${megabytes.at(-1)?.toFixed(2)} MB`)
  }
  client.end()
  return megabytes
}

const rowsShown = (count: number) =>
  [...document.querySelectorAll('[role=row] a')].filter(link => link.textContent !== '').length >=
  count

const chartsShown = (count: number) =>
  [...document.querySelectorAll('figure[aria-busy=false]')].filter(
    figure => figure.querySelector('canvas') !== null,
  ).length >= count

const allShown = () =>
  document.querySelector('figure canvas') !== null &&
  document.querySelector('figure[aria-busy=true]') === null

const isZoomed = () =>
  [...document.querySelectorAll('button')].some(({ textContent }) => textContent === 'Show all')

const linesShown = (count: number) =>
  document.querySelectorAll('[role=log] [data-index]').length >= count

const isAtStep = (step: number) =>
  [...document.querySelectorAll('figcaption')].some(({ textContent }) =>
    textContent?.includes(`at step ${step}`),
  )
