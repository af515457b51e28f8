import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { adminPassword } from '../servers/api.ts'
import { openBrowser } from '../servers/browser.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { keepScreenshot } from '../servers/screenshot.ts'

const waitMs = 20_000
const agent = 'forge-cli/1.0 <b>(linux; laptop)</b>'

type Code = { device_code: string; user_code: string; verification_uri_complete: string }

async function askCode(forge: Forge): Promise<Code> {
  const { body } = await forge.call<Code>('POST', '/api/cli/device/code', {
    token: null,
    body: {},
    headers: { 'user-agent': agent },
  })
  return body
}

/** A page of a browser without a session, and the errors in it. */
async function openPage(t: ExecutionContext) {
  const browser = await openBrowser(t)
  const context = await browser.newContext({
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

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('Username').fill('admin')
  await page.getByLabel('Password').fill(adminPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })

/** Each view in light and dark, wide and narrow. */
async function keepViews(page: Page, name: string): Promise<void> {
  for (const [width, size] of [
    [1280, 'wide'],
    [360, 'narrow'],
  ] as const)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme })
      await keepScreenshot(page, `device-${name}-${colorScheme}-${size}`)
    }
}

test('a person signs in, sees who asks, and approves: the program gets its token', async t => {
  const forge = await startForge(t)
  const code = await askCode(forge)
  const { page, another, faults } = await openPage(t)
  await page.goto(code.verification_uri_complete)
  await page.getByLabel('Username').waitFor()
  await keepViews(page, 'sign-in')
  await page.getByLabel('Username').fill('admin')
  await page.getByLabel('Password').fill('not the password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').getByText('Username or password is wrong').waitFor()
  await signIn(page)

  await heading(page, 'A program asks to sign in as you').waitFor()
  t.is(await page.locator('#user-code').textContent(), code.user_code)
  t.is(await page.locator('#requested-ip').textContent(), '127.0.0.1')
  t.is(await page.locator('#user-agent').textContent(), agent)
  t.regex(String(await page.locator('#requested-at').textContent()), /\d{4}/)
  t.regex(String(await page.locator('#valid-for').textContent()), /^1[45] min \d\d s$/)
  t.is(await page.locator('#who').textContent(), 'admin')
  await keepViews(page, 'request')

  // Opening the page decided nothing, and pressing Enter does not either.
  await page.keyboard.press('Enter')
  const state = async () =>
    (await forge.call('GET', `/api/cli/device/${code.user_code}`)).body.state
  t.is(await state(), 'pending')
  await page.getByRole('button', { name: 'Approve' }).click()
  await heading(page, 'Approved').waitFor()
  await keepViews(page, 'approved')
  const { status, body } = await forge.call('POST', '/api/cli/device/token', {
    token: null,
    body: { device_code: code.device_code },
  })
  t.is(status, 200)
  t.like(body, { user: { username: 'admin', role: 'admin' } })

  // A new tab recognizes the person by the cookie only.
  const tab = await another()
  await tab.goto(code.verification_uri_complete)
  await heading(tab, 'Already used').waitFor()
  t.deepEqual(faults, [])
})

test('a person denies a code; denied, expired and wrong codes are reported, and a code can be typed', async t => {
  const forge = await startForge(t)
  const [denied, expired] = [await askCode(forge), await askCode(forge)]
  const { page, faults } = await openPage(t)
  await page.goto(new URL('/device', denied.verification_uri_complete).href)
  await signIn(page)
  await heading(page, 'Which program?').waitFor()
  await keepViews(page, 'which')
  await page.getByLabel('Code it shows').fill('bbbb bbbb')
  await page.getByRole('button', { name: 'Go on' }).click()
  await page.getByRole('alert').getByText('No program waits with the code bbbb bbbb.').waitFor()
  await keepViews(page, 'wrong')
  await page.getByLabel('Code it shows').fill(denied.user_code.toLowerCase().replace('-', ' '))
  await page.getByRole('button', { name: 'Go on' }).click()
  await heading(page, 'A program asks to sign in as you').waitFor()
  await page.getByRole('button', { name: 'Deny' }).click()
  await heading(page, 'Denied').waitFor()
  const poll = await forge.call('POST', '/api/cli/device/token', {
    token: null,
    body: { device_code: denied.device_code },
  })
  t.is(poll.body.error, 'access_denied')
  await page.goto(denied.verification_uri_complete)
  await heading(page, 'Denied').waitFor()

  await page.goto(expired.verification_uri_complete)
  await heading(page, 'A program asks to sign in as you').waitFor()
  await forge.pool.query('update auth.device_code set expires_at = now() where user_code = $1', [
    expired.user_code,
  ])
  await page.getByRole('button', { name: 'Approve' }).click()
  await heading(page, 'Expired').waitFor()
  await keepViews(page, 'expired')
  t.deepEqual(faults, [])
})

test('a person who finds somebody else signed in can switch accounts', async t => {
  const forge = await startForge(t)
  const code = await askCode(forge)
  const { page, faults } = await openPage(t)
  await page.goto(code.verification_uri_complete)
  await signIn(page)
  await heading(page, 'A program asks to sign in as you').waitFor()
  await page.getByRole('button', { name: 'Not you?' }).click()
  await page.getByLabel('Username').waitFor()
  await page.reload()
  await page.getByLabel('Username').waitFor()
  t.false(await page.locator('#device').isVisible())
  t.deepEqual(faults, [])
})

test('the page cannot be framed and loads only its own files', async t => {
  const forge = await startForge(t)
  const { status, headers } = await forge.call('GET', '/device?user_code=x', { token: null })
  t.is(status, 200)
  t.is(headers.get('x-frame-options'), 'DENY')
  const policy = headers.get('content-security-policy') ?? ''
  for (const rule of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "frame-ancestors 'none'",
    "form-action 'none'",
  ])
    t.true(policy.split('; ').includes(rule), rule)
  t.false(policy.includes('unsafe'))
})
