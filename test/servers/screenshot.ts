import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

/** Saves a screenshot if `FORGE_SCREENSHOTS` names a folder. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.FORGE_SCREENSHOTS
  if (!folder) return
  await mkdir(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}
