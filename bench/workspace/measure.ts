import type { Page } from 'playwright-core'
import type { Target } from '../chart.ts'
import { processorSeconds } from '../rig/processor-time.ts'
import { type Spread, spreadOf } from '../rig/quantile.ts'
import { number } from '../rig/table.ts'
import { full, many } from './fill.ts'
import {
  framesDuring,
  glide,
  plotArea,
  timeToggle,
  timeUntilInteractive,
  zoomByMouse,
} from './gestures.ts'
import { browserSeconds, type Opened, type Watched } from './page.ts'

export type Row = {
  what: string
  took: Spread
  /** In milliseconds; of the median for openings and toggles, of the 95th percentile for frames. */
  limit: number | null
  /** Processor milliseconds each time: of the browser, and of the server with PostgreSQL. */
  browser: number
  server: number
  /** Milliseconds in which scripts of the page ran, each time. */
  script: number
}

type Options = {
  target: Target
  /** The processes of the server and PostgreSQL. */
  pids: readonly number[]
  times: number
}

/** Opens and uses the two workspaces, each next to what the machine can do at best at the moment. */
export async function measureWorkspace(opened: Opened, options: Options) {
  const { page } = opened
  const { target, pids, times } = options
  const rows: Row[] = []
  const used = async () => ({ ...(await browserSeconds(opened)), server: processorSeconds(pids) })
  const measure = async (
    what: string,
    limit: number | null,
    act: () => Promise<Spread>,
    each = 1,
  ) => {
    const before = await used()
    const took = await act()
    const after = await used()
    const ms = (of: 'browser' | 'script' | 'server') => ((after[of] - before[of]) * 1000) / each
    rows.push({
      what,
      took,
      limit,
      browser: ms('browser'),
      script: ms('script'),
      server: ms('server'),
    })
    console.error(`${what}: p50 ${number(took.p50)} ms, p95 ${number(took.p95)} ms`)
  }
  /** Once to warm up, then as often as requested. */
  const repeated = (what: string, limit: number | null, act: (turn: number) => Promise<number>) =>
    measure(
      what,
      limit,
      async () => {
        const took: number[] = []
        for (let turn = 0; turn <= times; turn++) took.push(await act(turn))
        return spreadOf(took.slice(1))
      },
      times + 1,
    )
  const frames = (what: string, limit: number | null, act: () => Promise<void>) =>
    measure(what, limit, () => framesDuring(page, act))

  const asked = seriesAskedBy(page)
  await repeated('limit: open an empty page', null, () => timeEmpty(page, target.url))
  const whole = `${target.url}/projects/${full.project}?runs=1-${full.runs}`
  await repeated('open 200 runs × 20 panels × 10,000 steps', 1500, () =>
    timeUntilInteractive(page, whole),
  )
  const urls = [...new Set(asked)]
  await repeated(`limit: only read these series, ${urls.length} requests`, null, () =>
    timeRead(urls, target.token),
  )
  const panels = await page.evaluate(() => (window as unknown as Watched).chartsInView())
  const before = asked.length
  await repeated(`hide or show a run, ${panels} panels in view`, 100, turn =>
    timeToggle(page, 3, turn % 2 === 0 ? full.runs - 1 : full.runs),
  )
  const reread = asked.length - before
  const { at } = await plotArea(page)
  const move = () => glide(page, at(0.1, 0.2), at(0.9, 0.8), 3_000)
  await frames('frames while the mouse moves over lines', 20, move)
  await frames('frames while zooming', 20, () => zoomByMouse(page))
  await page.goto(`${target.url}/healthz`)
  await frames('limit: frames of an empty page, the mouse moving', null, move)
  await repeated(`open a project of ${number(many.runs)} runs and ${many.keys} keys`, 1500, () =>
    timeUntilInteractive(page, `${target.url}/projects/${many.project}`),
  )
  return { rows, reread }
}

/** The addresses of the series that a page requests from now on. */
function seriesAskedBy(page: Page): string[] {
  const asked: string[] = []
  page.on('request', request => {
    if (new URL(request.url()).pathname.endsWith('/series')) asked.push(request.url())
  })
  return asked
}

async function timeEmpty(page: Page, url: string): Promise<number> {
  await page.goto('about:blank')
  await page.goto(`${url}/healthz`)
  return page.evaluate(
    () =>
      new Promise<number>(done =>
        requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))),
      ),
  )
}

/** Milliseconds until all of these responses have arrived, all requested at once. */
async function timeRead(urls: readonly string[], token: string): Promise<number> {
  const began = performance.now()
  await Promise.all(
    urls.map(async url => {
      const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
      await response.arrayBuffer()
    }),
  )
  return performance.now() - began
}
