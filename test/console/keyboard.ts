import type { Locator, Page } from 'playwright-core'
import { patient } from '../servers/patience.ts'

/** More than any page has places for the focus. */
const mostTabs = 400

const hasFocus = (target: Locator) =>
  target.evaluate(element => element === document.activeElement, null, { timeout: patient(20_000) })

/** Moves the focus with Tab, the only way of somebody without a pointer. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  for (let pressed = 0; pressed < mostTabs; pressed++) {
    if (await hasFocus(target)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not lead to ${target}`)
}

/** Enter on a button or a link, Space on a box. */
export async function press(page: Page, target: Locator, key = 'Enter'): Promise<void> {
  await tabTo(page, target)
  await page.keyboard.press(key)
}

/** Replaces what a field holds. */
export async function write(page: Page, field: Locator, text: string): Promise<void> {
  await tabTo(page, field)
  await page.keyboard.press('Control+a')
  await page.keyboard.type(text)
}

/** An option of a list, reached with the arrows. */
export async function choose(page: Page, list: Locator, option: string): Promise<void> {
  await tabTo(page, list)
  await page.keyboard.press('Home')
  for (let pressed = 0; pressed < mostTabs; pressed++) {
    const chosen = await list.evaluate(one => (one as HTMLSelectElement).selectedOptions[0]?.label)
    if (chosen === option) return
    await page.keyboard.press('ArrowDown')
  }
  throw new Error(`no arrow leads to ${option}`)
}
