import test from 'ava'
import type { Page } from 'playwright-core'
import { browserContext } from '../servers/browser.ts'
import { patient } from '../servers/patience.ts'
import { keepScreenshot } from '../servers/screenshot.ts'
import { startWithRealProvider } from './provider.ts'

const waitMs = patient(20_000)

const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })

async function keepViews(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await keepScreenshot(page, `oidc-${name}-${colorScheme}`)
  }
}

/** Goes through the provider's pages: sign-in and consent. */
async function signInThere(page: Page, login: string): Promise<void> {
  await page.locator('input[name=login]').fill(login)
  await page.locator('input[name=password]').fill('any')
  await page.getByRole('button', { name: 'Sign-in' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
}

test('a person signs in at the provider, comes back to where they were, and approves a program', async t => {
  const { forge, base, people } = await startWithRealProvider(t)
  people.set('u-1', { preferred_username: 'ada' })
  people.set('u-2', { preferred_username: 'grace' })
  const { body: code } = await forge.call('POST', '/api/cli/device/code', {
    token: null,
    body: {},
  })
  const context = await browserContext(t, { locale: 'en-US' })
  context.setDefaultTimeout(waitMs)
  const page = await context.newPage()
  const faults: string[] = []
  page.on('pageerror', error => faults.push(String(error)))

  await page.goto(String(code.verification_uri_complete))
  const link = page.getByRole('link', { name: 'Sign in with Example ID' })
  await link.waitFor()
  t.false(await page.getByLabel('Password').isVisible())
  await keepViews(page, 'offer')
  await link.click()
  await signInThere(page, 'u-1')
  await heading(page, 'A program asks to sign in as you').waitFor()
  t.is(page.url(), String(code.verification_uri_complete))
  await page.locator('[data-fact=username]').getByText('ada').waitFor()
  await keepViews(page, 'signed-in')

  // The provider still has ada's session, but Forge makes it ask again.
  await page.getByRole('button', { name: 'Not you?' }).click()
  await link.click()
  await signInThere(page, 'u-2')
  await page.locator('[data-fact=username]').getByText('grace').waitFor()
  await page.getByRole('button', { name: 'Approve' }).click()
  await heading(page, 'Approved').waitFor()
  const token = await forge.call('POST', '/api/cli/device/token', {
    token: null,
    body: { device_code: code.device_code },
  })
  t.like(token.body, { user: { username: 'grace', role: 'operator' } })

  await forge.pool.query(`update auth.person set disabled = true where username = 'grace'`)
  await page.goto(`${base}/api/auth/oidc/login`)
  await heading(page, 'Not signed in').waitFor()
  await page.getByRole('alert').getByText('The account grace is disabled').waitFor()
  await keepViews(page, 'refused')
  t.deepEqual(faults, [])
})
