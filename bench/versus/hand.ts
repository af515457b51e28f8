import type { Locator, Page } from 'playwright-core'
import { untilDrawn } from '../console/screen.ts'

/** Some draw for minutes. */
const answerWithinMs = 240_000

/** Counts and times what a person does. The clock runs from the first act until the answer is seen. */
export class Hand {
  readonly page: Page
  clicks = 0
  texts = 0
  #began: number | null = null
  #ended: number | null = null

  constructor(page: Page) {
    this.page = page
  }

  get seconds(): number {
    if (this.#began === null || this.#ended === null) throw new Error('nothing was timed')
    return (this.#ended - this.#began) / 1000
  }

  /** For what begins without an act. */
  start(): void {
    this.#began ??= performance.now()
  }

  async click(target: Locator): Promise<void> {
    this.start()
    this.clicks++
    await target.click()
  }

  /** Pointing at something, for the answer that it then shows; counts as a click. */
  async point(target: Locator): Promise<void> {
    this.start()
    this.clicks++
    await target.hover()
  }

  /** A list of the browser's own: one click opens it, one chooses. */
  async choose(list: Locator, label: string): Promise<void> {
    this.start()
    this.clicks += 2
    await list.selectOption({ label })
  }

  /** A text in the field that has the focus, with the keys that end it: one group of keystrokes. */
  async type(text: string, end: 'Enter' | 'Control+Enter' | null = null): Promise<void> {
    this.start()
    this.texts++
    await this.page.keyboard.type(text)
    if (end !== null) await this.page.keyboard.press(end)
  }

  /** The same, in place of what the field holds. */
  async replace(text: string, end: 'Enter' | null = null): Promise<void> {
    this.start()
    await this.page.keyboard.press('Control+A')
    await this.type(text, end)
  }

  /** The answer is drawn when this holds; it runs in the page. */
  async sees<Arg>(isThere: (arg: Arg) => boolean, arg: Arg): Promise<void> {
    const patient = { polling: 'raf', timeout: answerWithinMs } as const
    await this.page.waitForFunction(isThere as never, arg as never, patient)
    await untilDrawn(this.page, isThere, arg)
    this.#ended = performance.now()
  }

  async seesText(target: Locator): Promise<void> {
    await target.first().waitFor()
    await this.sees(() => true, null)
  }
}
