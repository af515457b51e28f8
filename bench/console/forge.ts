import type { Client } from 'pg'
import type { Browser, Page } from 'playwright-core'
import { adminPassword } from '../../test/servers/api.ts'
import type { Target } from '../chart.ts'
import { createRuns } from '../rig/api.ts'
import { fillRun } from '../rig/fill-run.ts'
import { spreadOf } from '../rig/quantile.ts'
import { seedRuns } from '../run-list.ts'
import { openScreen, scrollFrames, timeOpening, untilDrawn } from './screen.ts'

export type Timed = { task: string; p50: number; max: number; limit: number }

type Rig = { target: Target; client: Client; browser: Browser; times: number }

const charts = 20
const runs = 10
const steps = 10_000
const keys = Array.from(
  { length: charts },
  (_, nth) => `loss_of_part/${'abcdefghijklmnopqrst'[nth]}`,
)

/** Pages of the console, opened and used by a browser on the machine of the server. */
export async function measureForge({ target, client, browser, times }: Rig): Promise<Timed[]> {
  const compared = await createRuns(target.url, target.token, 'curves', runs)
  for (const run of compared) await fillRun(target, run, keys, steps)
  const [large] = await createRuns(target.url, target.token, 'large', 1)
  if (!large) throw new Error('no run was created')
  await fillRun(target, large, ['train/loss'], 200_000)
  await seedRuns(client)
  const page = await openScreen(browser)
  await page.goto(target.url)
  await page.getByLabel('Username').fill('admin')
  await page.getByLabel('Password').fill(adminPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Runs', exact: true }).first().waitFor()
  const opening = async <Arg>(path: string, isThere: (arg: Arg) => boolean, arg: Arg) => {
    const took: number[] = []
    for (let n = 0; n <= times; n++)
      took.push(await timeOpening(page, `${target.url}${path}`, isThere, arg))
    return spreadOf(took.slice(1))
  }
  const found: Timed[] = []
  const add = (task: string, limit: number, { p50, max }: { p50: number; max: number }) => {
    console.error(`${task}: ${p50.toFixed(0)} ms, at most ${max.toFixed(0)} ms (limit ${limit})`)
    found.push({ task, p50, max, limit })
  }
  add('open the list of 100,000 runs', 1500, await opening('/runs', rowsShown, 15))
  const frames = await scrollFrames(page, '[role=grid]', 5)
  add('scroll it: time of a frame (p95)', 20, { p50: frames.p50, max: frames.p95 })
  add(
    'open a run with 200,000 points',
    1000,
    await opening(`/runs/${large.run_id}/metrics`, chartsShown, 1),
  )
  const all = compared.map(({ run_id }) => run_id).join(',')
  const compare = `/compare?runs=${encodeURIComponent(all)}`
  add('compare 10 runs, a metric', 1000, await opening(`${compare}&keys=part/a`, chartsShown, 1))
  await page.setViewportSize(screenOfCharts)
  add('20 charts of 10 runs and 10,000 steps', 1000, await opening(compare, chartsShown, charts))
  await measureZoom(page, times, add)
  return found
}

/** Room for all charts at once. */
const screenOfCharts = { width: 2000, height: 1400 }

type Add = (task: string, limit: number, took: { p50: number; max: number }) => void

async function measureZoom(page: Page, times: number, add: Add): Promise<void> {
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
    await untilDrawn(page, zoomed, null)
    seen.push(await since())
    await untilDrawn(page, chartsShown, charts)
    refined.push(await since())
    await page.getByRole('button', { name: 'Show all' }).click()
    await untilDrawn(page, chartsShown, charts)
  }
  add('zoom all of them', 150, spreadOf(seen))
  add('read the finer lines of the zoom', 1000, spreadOf(refined))
}

const zoomed = () =>
  [...document.querySelectorAll('button')].some(({ textContent }) => textContent === 'Show all')

const rowsShown = (count: number) =>
  [...document.querySelectorAll('[role=row] a')].filter(link => link.textContent !== '').length >=
  count

const chartsShown = (count: number) =>
  [...document.querySelectorAll('figure[aria-busy=false]')].filter(
    figure => figure.querySelector('canvas') !== null,
  ).length >= count
