import type { Browser, CDPSession, Page } from 'playwright-core'
import { adminPassword } from '../../test/servers/api.ts'
import type { Target } from '../chart.ts'

const size = { width: 1440, height: 900 }

/** `ofBrowser`: the session of the whole browser, `ofPage` that of the page. */
export type Opened = { page: Page; ofPage: CDPSession; ofBrowser: CDPSession }

/** A page of a signed-in person; every frame in which a chart is drawn is recorded. */
export async function openPage(browser: Browser, { url }: Target): Promise<Opened> {
  const context = await browser.newContext({ locale: 'en-US', viewport: size })
  context.setDefaultTimeout(120_000)
  const page = await context.newPage()
  await page.addInitScript(watchCharts)
  await page.goto(url)
  await page.getByLabel('Username').fill('admin')
  await page.getByLabel('Password').fill(adminPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Runs', exact: true }).first().waitFor()
  const ofPage = await context.newCDPSession(page)
  await ofPage.send('Performance.enable')
  return { page, ofPage, ofBrowser: await browser.newBrowserCDPSession() }
}

/** Runs in the page, before its own code. */
function watchCharts() {
  const drawn = new WeakMap<HTMLCanvasElement, number>()
  const clear = CanvasRenderingContext2D.prototype.clearRect
  CanvasRenderingContext2D.prototype.clearRect = function (...where) {
    // uPlot clears its canvas whenever it draws.
    drawn.set(this.canvas, performance.now())
    clear.apply(this, where)
  }
  const inView = () =>
    [...document.querySelectorAll('figure')].filter(figure => {
      const { top, bottom } = figure.getBoundingClientRect()
      return bottom > 0 && top < innerHeight
    })
  const drawnAt = (figure: Element) => {
    const canvas = figure.querySelector('canvas')
    return canvas === null
      ? Number.NEGATIVE_INFINITY
      : (drawn.get(canvas) ?? Number.NEGATIVE_INFINITY)
  }
  /** Whether each chart in view was drawn since, and none waits for data. */
  const areDrawn = (since: number, lines: number | null) => {
    const charts = inView()
    return (
      charts.length > 0 &&
      charts.every(
        chart =>
          chart.getAttribute('aria-busy') === 'false' &&
          drawnAt(chart) >= since &&
          (lines === null || chart.textContent?.includes(`${lines} lines`)),
      )
    )
  }
  Object.assign(window, { areDrawn, chartsInView: () => inView().length })
}

/** What `watchCharts` adds to the page. */
export type Watched = typeof window & {
  areDrawn: (since: number, lines: number | null) => boolean
  chartsInView: () => number
}

/** Processor seconds of the browser's processes so far; and how long scripts of the page ran, waiting for a processor or not. */
export async function browserSeconds({ ofPage, ofBrowser }: Opened) {
  const { metrics } = await ofPage.send('Performance.getMetrics')
  const { processInfo } = await ofBrowser.send('SystemInfo.getProcessInfo')
  return {
    // A process that is browser and renderer in one is listed as both.
    browser: [...new Map(processInfo.map(({ id, cpuTime }) => [id, cpuTime])).values()].reduce(
      (sum, seconds) => sum + seconds,
      0,
    ),
    script: metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? Number.NaN,
  }
}
