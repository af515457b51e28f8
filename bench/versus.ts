import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { launchBrowser } from '../test/servers/chromium.ts'
import { spreadOf } from './rig/quantile.ts'
import { number, toTable } from './rig/table.ts'
import { bestOf, sampleRuns } from './versus/data.ts'
import { forge } from './versus/forge.ts'
import { Hand } from './versus/hand.ts'
import { mlflow } from './versus/mlflow.ts'
import { type Name, names, type Product, startProducts } from './versus/products.ts'
import { type AllWays, type Setting, titles } from './versus/tasks.ts'
import { trackio } from './versus/trackio.ts'

const usage = `npm run bench:versus -- [options]
Ten tasks in the pages of Forge, MLflow and Trackio on the same runs: clicks, typed texts and seconds until the answer is drawn.
  --times N      of each task in each product, in turn (5)
  --only 1,2     these tasks
  --with NAMES   these products (forge,mlflow,trackio)
  --folder DIR   keeps the filled servers' data there, and uses it again
  --json FILE    also write all figures there`

const { values: options } = parseArgs({
  options: {
    times: { type: 'string', default: '5' },
    only: { type: 'string' },
    with: { type: 'string', default: names.join() },
    folder: { type: 'string' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.error(usage)
  process.exit(0)
}

const all: AllWays = { forge, mlflow, trackio }
const asked = options.only?.split(',').map(Number) ?? titles.map((_, nth) => nth + 1)
const among = names.filter(name => options.with.split(',').includes(name))
/** Tasks that take longer than this are not repeated. */
const repeatedBelowS = 20
/** Later than any step of an earlier measurement on the same data. */
const startOfNth = Math.floor((Date.now() / 60_000) % 1440) * 10
/** The longest wait for one thing. */
const waitMs = 60_000
const viewport = { width: 1440, height: 900 }

type Result = {
  task: number
  product: Name
  clicks: number
  texts: number
  seconds: number[]
  load: number[]
  /** The reasons of repetitions that did not get there. */
  failures: string[]
}

const samples = sampleRuns()
const best = bestOf(samples).name
const compared = samples.slice(-6, -3).map(({ name }) => name)
const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'forge-bench-versus-')))
const products = await startProducts(folder, samples, among)
const browser = await launchBrowser()
const results: Result[] = []
try {
  const context = await browser.newContext({ locale: 'en-US', viewport })
  context.setDefaultTimeout(waitMs)
  const pages = new Map<Product, Page>()
  for (const product of products.values()) {
    const page = await context.newPage()
    await all[product.name].prepare(page, product.address)
    await page.goto('about:blank')
    // Starting its client takes seconds.
    await product.log(999 + startOfNth)
    pages.set(product, page)
  }
  for (const task of asked)
    for (let nth = 0; nth < Number(options.times); nth++)
      for (const [product, page] of pages)
        await repeat({ task, product, nth: startOfNth + nth, page })
} finally {
  await browser.close()
  for (const product of products.values()) await product.stop()
  if (options.folder === undefined) await rm(folder, { recursive: true, force: true })
}

/** The page has nothing left to do, and nor has its server for it. */
async function untilIdle(page: Page): Promise<void> {
  const idle = () => new Promise(done => requestIdleCallback(done, { timeout: 5_000 }))
  await page.evaluate(idle)
  await page.waitForTimeout(500)
  await page.evaluate(idle)
}

type Repeated = { task: number; product: Product; nth: number; page: Page }

async function repeat({ task, product, nth, page }: Repeated): Promise<void> {
  const { name } = product
  const way = all[name].ways[task - 1]
  const known = results.find(one => one.task === task && one.product === name)
  const isDone = (known?.failures.length ?? 0) > 1 || (known?.seconds[0] ?? 0) > repeatedBelowS
  if (way === undefined || typeof way === 'string' || isDone) return
  const result = known ?? newResult(task, name)
  const setting: Setting = { product, page, best, compared, nth }
  const hand = new Hand(page)
  try {
    await (way.open ?? all[name].project)(setting)
    await untilIdle(page)
    result.load.push(loadavg()[0] ?? 0)
    await way.act(hand, setting)
    result.seconds.push(hand.seconds)
    Object.assign(result, { clicks: hand.clicks, texts: hand.texts })
    await way.undo?.(setting)
  } catch (error) {
    result.failures.push(String(error).slice(0, 400))
    await page.screenshot({ path: join(folder, `${name}-${task}.png`) }).catch(() => {})
  }
  await page.goto('about:blank')
  await keep()
  console.error(
    `${task} ${name}: ${hand.clicks}+${hand.texts}, ${result.seconds.at(-1)} s ${result.failures.at(-1) ?? ''}`,
  )
}

function newResult(task: number, product: Name): Result {
  const result: Result = { task, product, clicks: 0, texts: 0, seconds: [], load: [], failures: [] }
  results.push(result)
  return result
}

async function keep(): Promise<void> {
  const machine = { cpus: cpus().length, model: cpus()[0]?.model }
  if (options.json) await writeFile(options.json, JSON.stringify({ machine, results }, null, 2))
}

const shown = (task: number, name: Name): string => {
  const way = all[name].ways[task - 1]
  const result = results.find(one => one.task === task && one.product === name)
  if (typeof way === 'string') return '–'
  if (result === undefined || result.seconds.length === 0) return 'failed'
  const { p50, max } = spreadOf(result.seconds)
  return `${result.clicks} + ${result.texts}, ${number(p50, 1)} (${number(max, 1)})`
}
console.log(
  toTable(
    asked.toSorted((a, b) => a - b),
    [
      ['task', task => `${task} ${titles[task - 1]}`],
      ...among.map(name => [name, (task: number) => shown(task, name)] as [string, typeof String]),
    ],
  ),
)
const loads = spreadOf(results.flatMap(({ load }) => load))
console.log(
  `\nclicks + typed texts, seconds (median, slowest); load ${number(loads.p50, 1)}, at most ${number(loads.max, 1)}`,
)
