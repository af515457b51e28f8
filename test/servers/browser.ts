import { type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core'
import type { Scope } from './postgres.ts'
import { addressOf } from './rendezvous.ts'

/** The test's own context, with its storage and cookies, in the browser that the whole run shares; closed after the test. */
export async function browserContext(
  t: Scope,
  options?: BrowserContextOptions,
): Promise<BrowserContext> {
  const browser = await chromium.connect(await addressOf('browser'))
  // Closes this connection and its contexts; the browser itself keeps running.
  t.teardown(() => browser.close())
  return await browser.newContext(options)
}
