import type { Page } from 'playwright-core'
import { type Spread, spreadOf } from '../rig/quantile.ts'
import type { Watched } from './page.ts'

/** Milliseconds from leaving for an address until the panels in view are drawn and the page has responded to a click. */
export async function timeUntilInteractive(page: Page, url: string): Promise<number> {
  await page.goto('about:blank')
  await page.goto(url, { waitUntil: 'commit' })
  await page.waitForFunction(() => (window as unknown as Watched).areDrawn?.(0, null), null, {
    polling: 'raf',
  })
  const responded = page.evaluate(
    () =>
      new Promise<number>(done =>
        addEventListener('click', () => requestAnimationFrame(() => done(performance.now())), {
          once: true,
        }),
      ),
  )
  await page.locator('main h1').click()
  return responded
}

/**
 * Milliseconds from a click on a run's checkbox until every panel in view shows this many lines and the frame is on the
 * screen.
 */
export async function timeToggle(page: Page, nth: number, lines: number): Promise<number> {
  const redrawn = page.evaluate(
    lines =>
      new Promise<number>(done =>
        addEventListener(
          'click',
          ({ timeStamp }) => {
            const look = () => {
              if (!(window as unknown as Watched).areDrawn(timeStamp, lines))
                return requestAnimationFrame(look)
              // A message is delivered after the frame is painted.
              const { port1, port2 } = new MessageChannel()
              port1.onmessage = () => done(performance.now() - timeStamp)
              return requestAnimationFrame(() => port2.postMessage(null))
            }
            requestAnimationFrame(look)
          },
          { once: true, capture: true },
        ),
      ),
    lines,
  )
  await page.locator('main li input[type=checkbox]').nth(nth).click()
  return redrawn
}

/** Milliseconds between the frames of the page while something happens. */
export async function framesDuring(page: Page, act: () => Promise<void>): Promise<Spread> {
  const frames = await page.evaluateHandle(() => {
    const frames: number[] = []
    let last: number | null = null
    const watch = { frames, isOver: false }
    const step = (now: number) => {
      if (last !== null) frames.push(now - last)
      last = now
      if (!watch.isOver) requestAnimationFrame(step)
    }
    requestAnimationFrame(step)
    return watch
  })
  await act()
  return spreadOf(
    await frames.evaluate(watch => {
      watch.isOver = true
      return watch.frames
    }),
  )
}

/** Moves the mouse at about the pace of a hand, an event for each frame or so. */
export async function glide(
  page: Page,
  from: { x: number; y: number },
  to: { x: number; y: number },
  ms: number,
): Promise<void> {
  const began = Date.now()
  for (let share = 0; share < 1; ) {
    share = Math.min(1, (Date.now() - began) / ms)
    await page.mouse.move(from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share)
    await page.waitForTimeout(8)
  }
}

/** Where the first chart draws its lines. */
export async function plotArea(page: Page) {
  const box = await page.locator('figure .u-over').first().boundingBox()
  if (!box) throw new Error('no chart is drawn')
  const at = (x: number, y: number) => ({ x: box.x + box.width * x, y: box.y + box.height * y })
  return { at }
}

/** Seven zooms: a part of the axis is selected by the mouse, and everything shown again by a double click. */
export async function zoomByMouse(page: Page): Promise<void> {
  const { at } = await plotArea(page)
  for (let turn = 0; turn < 7; turn++) {
    const [from, to] = [at(0.2 + turn / 100, 0.4), at(0.7, 0.6)]
    await page.mouse.move(from.x, from.y)
    await page.mouse.down()
    await glide(page, from, to, 500)
    await page.mouse.up()
    await page.waitForTimeout(300)
    await page.mouse.dblclick(to.x, to.y)
    await page.waitForTimeout(300)
  }
}
