import { type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core'
import type { Scope } from './postgres.ts'
import { addressOf } from './rendezvous.ts'

/** A context of the test's own in the browser that the whole run shares: its storage and cookies; closed after the test. */
export async function browserContext(
  t: Scope,
  options?: BrowserContextOptions,
): Promise<BrowserContext> {
  const browser = await chromium.connect(await addressOf('browser'))
  // Closes this connection and its contexts; the browser itself goes on.
  t.teardown(() => browser.close())
  return await browser.newContext(options)
}
