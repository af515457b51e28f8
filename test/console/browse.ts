import type { ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { adminPassword } from '../servers/api.ts'
import { browserContext } from '../servers/browser.ts'
import { patient } from '../servers/patience.ts'
import { keepScreenshot } from '../servers/screenshot.ts'

const waitMs = patient(20_000)

/** A page of a browser without a session, further ones of the same browser, and the errors in all of them. */
export async function openPage(t: ExecutionContext) {
  const context = await browserContext(t, {
    locale: 'en-US',
    viewport: { width: 1280, height: 800 },
    colorScheme: 'light',
  })
  context.setDefaultTimeout(waitMs)
  const faults: string[] = []
  const watched = async () => {
    const page = await context.newPage()
    page.on('pageerror', error => faults.push(String(error)))
    page.on('console', message => {
      // A browser reports every refused request by itself; the page says each in its own words.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        faults.push(message.text())
    })
    return page
  }
  return { page: await watched(), another: watched, faults }
}

export async function signIn(page: Page, password = adminPassword): Promise<void> {
  await page.getByLabel('Username').fill('admin')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** The view in light and dark, wide and narrow. */
export async function keepViews(page: Page, name: string): Promise<void> {
  for (const [width, size] of [
    [1280, 'wide'],
    [360, 'narrow'],
  ] as const)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme })
      await keepScreenshot(page, `${name}-${colorScheme}-${size}`)
    }
}
