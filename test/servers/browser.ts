import chromium from '@sparticuz/chromium'
import type { ExecutionContext } from 'ava'
import { type Browser, chromium as playwright } from 'playwright-core'

/** Chromium as npm carries it; closed after the test. */
export async function openBrowser(t: ExecutionContext): Promise<Browser> {
  const browser = await playwright.launch({
    executablePath: await chromium.executablePath(),
    args: [...chromium.args, '--no-first-run', '--disable-background-networking', '--disable-sync'],
  })
  t.teardown(() => browser.close())
  return browser
}
