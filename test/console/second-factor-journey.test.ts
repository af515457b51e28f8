import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { newCode, nextCode } from '../second-factors/authenticator.ts'
import { adminPassword } from '../servers/api.ts'
import { startForge } from '../servers/forge.ts'
import { keepScreenshot } from '../servers/screenshot.ts'
import { axeFinds, openPage, signIn } from './browse.ts'

/** Sets up an authenticator on the page; returns its secret and the recovery codes, which are still shown. */
async function setUp(t: ExecutionContext, page: Page) {
  await page.getByLabel('Your password').fill(adminPassword)
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.getByRole('img', { name: /QR code/ }).waitFor()
  const address = await page.getByRole('link', { name: /Open it in an app/ }).getAttribute('href')
  const secret = new URL(String(address)).searchParams.get('secret') ?? ''
  await page.getByText(secret.slice(0, 4)).first().waitFor()
  t.deepEqual(await axeFinds(page), [])
  await keepScreenshot(page, 'second-factor-set-up')
  const code = page.getByLabel('Code that the app shows')
  await code.fill('12345')
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page
    .getByRole('alert')
    .getByText(/The code is wrong/)
    .waitFor()
  await code.fill(newCode(secret))
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByText(/Keep these recovery codes/).waitFor()
  const recovery = await page
    .getByRole('listitem')
    .filter({ hasText: /^\w{4}-/ })
    .allInnerTexts()
  t.is(recovery.length, 10)
  await keepScreenshot(page, 'second-factor-recovery-codes')
  t.deepEqual(await axeFinds(page), [])
  return { secret, recovery }
}

const enterCode = async (page: Page, code: string) => {
  await page.getByLabel(/Code of your authenticator/).fill(code)
  await page.getByRole('button', { name: 'Verify' }).click()
}

const signOut = async (page: Page) => {
  await page.getByRole('button', { name: /Account/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
}

test('a person sets up an authenticator, signs in with its code and with a recovery code, and removes it', async t => {
  const forge = await startForge(t)
  const { page, faults } = await openPage(t)
  await page.goto(`${forge.url}/settings`)
  await signIn(page)
  const { secret, recovery } = await setUp(t, page)
  await page.getByRole('button', { name: 'I have kept them' }).click()
  await page.getByText(/Recovery codes left: 10/).waitFor()
  t.is(await page.getByText(recovery[0] ?? 'none').count(), 0)

  await signOut(page)
  await signIn(page)
  await enterCode(page, '000000')
  await page
    .getByRole('alert')
    .getByText(/The code is wrong/)
    .waitFor()
  t.deepEqual(await axeFinds(page), [])
  await enterCode(page, nextCode(secret))
  await page.getByRole('heading', { name: 'Settings' }).waitFor()

  await signOut(page)
  await signIn(page)
  await enterCode(page, recovery[0] ?? '')
  await page.getByText(/Recovery codes left: 9/).waitFor()
  await page.getByLabel('Password, to remove it').fill('not my password')
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await page
    .getByRole('alert')
    .getByText(/password is wrong/)
    .waitFor()
  await page.getByLabel('Password, to remove it').fill(adminPassword)
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByLabel('Your password').waitFor()
  await signOut(page)
  await signIn(page)
  await page.getByRole('heading', { name: 'Settings' }).waitFor()
  t.deepEqual(faults, [])
})

test('where everybody needs a second factor, a person sets it up on any page and then sees the page', async t => {
  const forge = await startForge(t, { SERVICE_SECOND_FACTOR: 'everybody' })
  const { page } = await openPage(t)
  const streams: string[] = []
  page.on('request', request => {
    if (request.url().includes('/api/stream')) streams.push(request.url())
  })
  await page.addInitScript(`window.seen = []
    new MutationObserver(() => {
      for (const part of document.querySelectorAll('#main [role=alert], [data-live]'))
        seen.push(part.textContent)
    }).observe(document, { subtree: true, childList: true })`)
  // The server refuses what the page shows before it says why.
  const known = Promise.withResolvers<void>()
  await page.route('**/api/auth/me', async route => {
    await known.promise
    await route.continue()
  })
  const refused = page.waitForResponse(response => response.status() === 403)
  await page.goto(`${forge.url}/runs`)
  await signIn(page)
  await (await refused).finished()
  await page.evaluate(
    'new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))',
  )
  known.resolve()
  await page.getByText(/This installation requires a second factor/).waitFor()
  t.deepEqual(await page.evaluate('seen'), [])
  const { recovery } = await setUp(t, page)
  t.deepEqual(streams, [])
  // Other pages and windows of the same person do not hide the codes before they are kept.
  await page.getByRole('link', { name: 'Forge', exact: true }).click()
  await page.getByText(recovery[9] ?? 'none').waitFor()
  await page.getByRole('button', { name: 'I have kept them' }).click()
  await page.goto(`${forge.url}/admin`)
  await page.getByRole('heading', { name: 'People' }).waitFor()
  await page.getByText('second factor', { exact: true }).waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
})
