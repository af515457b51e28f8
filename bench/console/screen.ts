import type { Browser, Page } from 'playwright-core'
import { quantile, spreadOf } from '../rig/quantile.ts'

const size = { width: 1280, height: 800 }

/**
 * Milliseconds from leaving for an address until a frame shows what `isThere` looks for. It runs in the page, at each
 * frame.
 */
export async function timeOpening<Arg>(
  page: Page,
  url: string,
  isThere: (arg: Arg) => boolean,
  arg: Arg,
): Promise<number> {
  await page.goto('about:blank')
  await page.goto(url, { waitUntil: 'domcontentloaded' })
  await untilDrawn(page, isThere, arg)
  return page.evaluate(() => performance.now())
}

/** Resolves two frames after `isThere` holds: only then is the result drawn. */
export async function untilDrawn<Arg>(page: Page, isThere: (arg: Arg) => boolean, arg: Arg) {
  await page.waitForFunction(isThere as never, arg as never, { polling: 'raf', timeout: 120_000 })
  await page.evaluate(
    () => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn))),
  )
}

/** Scrolls a box for a while, as fast as a mouse wheel; returns the milliseconds between frames. */
export async function scrollFrames(page: Page, selector: string, seconds: number) {
  const frames = await page.evaluate(
    ({ selector, ms }) =>
      new Promise<number[]>(done => {
        const box = document.querySelector(selector)
        const frames: number[] = []
        const began = performance.now()
        let last = began
        const step = (now: number) => {
          frames.push(now - last)
          last = now
          if (box) box.scrollTop += 90
          if (now - began < ms) requestAnimationFrame(step)
          else done(frames.slice(2))
        }
        requestAnimationFrame(step)
      }),
    { selector, ms: seconds * 1000 },
  )
  const sorted = frames.sort((a, b) => a - b)
  return { frames: sorted.length, p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95) }
}

export async function openScreen(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-US', viewport: size })
  context.setDefaultTimeout(120_000)
  return context.newPage()
}

export type Timed = { task: string; p50: number; max: number; limit: number | null }

/** The measurements in words. A limit is null where there is none. */
export function tasks(page: Page, url: string, times: number) {
  const found: Timed[] = []
  const say = (text: string) => console.error(text)
  const add = (task: string, limit: number | null, { p50, max }: { p50: number; max: number }) => {
    say(
      `${url} ${task}: ${p50.toFixed(0)} ms, at most ${max.toFixed(0)} ms (limit ${limit ?? 'none'})`,
    )
    found.push({ task, p50, max, limit })
  }
  const addAll = (task: string, limit: number | null, took: readonly number[]) =>
    add(task, limit, spreadOf(took))
  return {
    found,
    say,
    add,
    addAll,
    /** Opens a page as often as requested, after one warm-up; waits each time until `isThere` finds it drawn. */
    async open<Arg>(
      task: string,
      limit: number | null,
      path: string,
      isThere: (arg: Arg) => boolean,
      arg: Arg,
    ): Promise<void> {
      const took: number[] = []
      for (let n = 0; n <= times; n++)
        took.push(await timeOpening(page, `${url}${path}`, isThere, arg))
      addAll(task, limit, took.slice(1))
    },
  }
}

export type Tasks = ReturnType<typeof tasks>
