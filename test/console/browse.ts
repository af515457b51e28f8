import { isDeepStrictEqual } from 'node:util'
import { AxeBuilder } from '@axe-core/playwright'
import type { ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { adminPassword, callApi } from '../servers/api.ts'
import { browserContext } from '../servers/browser.ts'
import type { Forge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { keepScreenshot } from '../servers/screenshot.ts'
import { until } from '../servers/until.ts'

const waitMs = 20_000

/** A page in a browser without a session, further pages of the same browser, and the errors in all of them. */
export async function openPage(t: ExecutionContext) {
  const context = await browserContext(t, {
    locale: 'en-US',
    viewport: { width: 1280, height: 800 },
    colorScheme: 'light',
  })
  context.setDefaultTimeout(patient(waitMs))
  const faults: string[] = []
  const watched = async () => {
    const page = await context.newPage()
    page.on('pageerror', error => faults.push(String(error)))
    page.on('console', message => {
      // A browser reports every refused request on its own; the page reports each in its own words.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        faults.push(message.text())
    })
    return page
  }
  return { page: await watched(), another: watched, faults }
}

/** The same in a browser with a signed-in person; `call` calls the API in their session. */
export async function openSignedIn(
  t: ExecutionContext,
  forge: Pick<Forge, 'url'>,
  username = 'admin',
) {
  const opened = await openPage(t)
  // Leaves the same cookie in the browser as the sign-in form.
  const reply = await opened.page.request.post(`${forge.url}/api/auth/login`, {
    data: { username, password: adminPassword },
  })
  if (!reply.ok()) throw new Error(`${username} cannot sign in: ${await reply.text()}`)
  const { token } = (await reply.json()) as { token: string }
  const call: Forge['call'] = (method, path, options) =>
    callApi(forge.url, method, path, { token, ...options })
  return { ...opened, call }
}

/** Creates a person who signs in with the password of the administrator. */
export async function createPerson(
  forge: Forge,
  username: string,
  role: 'admin' | 'operator' = 'operator',
): Promise<void> {
  const body = { username, role, password: adminPassword }
  const reply = await forge.call('POST', '/api/admin/users', { body })
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body))
}

export async function signIn(
  page: Page,
  { username = 'admin', password = adminPassword } = {},
): Promise<void> {
  await page.getByLabel('Username').fill(username)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Signs in at the provider of the tests, and agrees that it names the person to Forge. */
export async function signInAtProvider(page: Page, login: string): Promise<void> {
  await page.getByRole('link', { name: 'Sign in with Example ID' }).click()
  await page.locator('input[name=login]').fill(login)
  await page.locator('input[name=password]').fill('any')
  await page.getByRole('button', { name: 'Sign-in' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
}

/** Asserts that `read` returns this value by the deadline: pages show their data some frames later. */
export async function becomes<T>(
  t: ExecutionContext,
  read: () => Promise<T>,
  value: T,
  message?: string,
): Promise<void> {
  let seen: T | undefined
  await until('the value is as expected', waitMs, async () => {
    seen = await read()
    return isDeepStrictEqual(seen, value)
  }).catch(error => {
    // Past the deadline, the assertion shows the difference.
    if (seen === undefined) throw error
  })
  t.deepEqual(seen, value, message)
}

/** Waits until the page is not wider than its window. */
export const fits = (page: Page) =>
  until('it fits', waitMs, () =>
    page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
  )

/** Each rule of accessibility that the page breaks, with the elements that break it. */
export async function axeFinds(page: Page): Promise<string[][]> {
  // Without frames of other origins, axe does not have to open a second page to combine its findings.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] })
  const { violations } = await axe.analyze()
  return violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)])
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

/** Fits and is accessible wide and narrow, in both themes; the page is wide afterwards. */
export async function looksRight(t: ExecutionContext, page: Page, name: string): Promise<void> {
  await keepViews(page, name)
  for (const [width, colorScheme] of [
    [390, 'dark'],
    [1440, 'light'],
  ] as const) {
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme })
    await fits(page)
    t.deepEqual(await axeFinds(page), [], `${name}, ${width} wide`)
  }
}
