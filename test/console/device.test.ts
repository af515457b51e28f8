import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import type { DeviceRequest } from '../../schemas/devices.ts'
import { adminPassword } from '../servers/api.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { becomes, createPerson, keepViews, openPage, openSignedIn, signIn } from './browse.ts'

const shared = sharedForge()

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

/** The server by its public name, for which the browser of these pages has its cookie. */
const publicly = (code: Code) => ({ url: new URL(code.verification_uri_complete).origin })

const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })

test('a person signs in, sees who asks, and approves: the program gets its token', async t => {
  const forge = await shared()
  const code = await askCode(forge)
  const { page, another, faults } = await openPage(t)
  await page.goto(code.verification_uri_complete)
  await page.getByLabel('Username').waitFor()
  await keepViews(page, 'device-sign-in')
  await signIn(page, { password: 'not the password' })
  await page.getByRole('alert').getByText('Username or password is wrong').waitFor()
  const shownFrom = Date.now()
  await signIn(page)

  await heading(page, 'A program asks to sign in as you').waitFor()
  const shows = (fact: string, text: string) =>
    becomes(t, () => page.locator(`[data-fact=${fact}]`).textContent(), text)
  await shows('user_code', code.user_code)
  await shows('requested_ip', '127.0.0.1')
  await shows('user_agent', agent)
  await page.locator('[data-fact=requested_at]', { hasText: /\d{4}/ }).waitFor()
  await page.getByText('It may then do everything that you may, for up to 30 days').waitFor()
  const validFor = String(await page.locator('[data-fact=valid_for]').textContent())
  const shownUntil = Date.now()
  await shows('username', 'admin')
  await keepViews(page, 'device-request')

  // Opening the page decided nothing, and pressing Enter does not either.
  await page.keyboard.press('Enter')
  const told = async () =>
    (await forge.call<DeviceRequest>('GET', `/api/cli/device/${code.user_code}`)).body
  const { state, requested_at, expires_at } = await told()
  t.is(state, 'pending')
  t.is(Date.parse(expires_at) - Date.parse(requested_at), 15 * 60_000)
  const [, minutes, seconds] = /^(\d+) min (\d\d) s$/.exec(validFor) ?? []
  const endMs = Date.parse(expires_at) - (Number(minutes) * 60 + Number(seconds)) * 1000
  t.true(endMs > shownFrom - 1000 && endMs <= shownUntil, validFor)
  await page.getByRole('button', { name: 'Approve' }).click()
  await heading(page, 'Approved').waitFor()
  await keepViews(page, 'device-approved')
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
  const forge = await shared()
  const [denied, expired] = [await askCode(forge), await askCode(forge)]
  const { page, faults } = await openSignedIn(t, publicly(denied))
  await page.goto(new URL('/device', denied.verification_uri_complete).href)
  await heading(page, 'Which program?').waitFor()
  await keepViews(page, 'device-which')
  await page.getByLabel('Code it shows').fill('bbbb bbbb')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page
    .getByRole('alert')
    .getByText('No program is waiting with the code bbbb bbbb.')
    .waitFor()
  await keepViews(page, 'device-wrong')
  await page.getByLabel('Code it shows').fill(denied.user_code.toLowerCase().replace('-', ' '))
  await page.getByRole('button', { name: 'Continue' }).click()
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
  await keepViews(page, 'device-expired')
  t.deepEqual(faults, [])
})

/** The page of a code, for somebody who has signed in. */
async function askedToApprove(t: ExecutionContext, username: string) {
  const forge = await shared()
  await createPerson(forge, username)
  const code = await askCode(forge)
  const { page, faults } = await openSignedIn(t, publicly(code), username)
  await page.goto(code.verification_uri_complete)
  await heading(page, 'A program asks to sign in as you').waitFor()
  return { forge, code, page, faults }
}

test('a person who finds somebody else signed in can switch accounts', async t => {
  const { page, faults } = await askedToApprove(t, 'ada')
  await page.getByRole('button', { name: 'Not you?' }).click()
  await page.getByLabel('Username').waitFor()
  await page.reload()
  await page.getByLabel('Username').waitFor()
  t.is(await heading(page, 'A program asks to sign in as you').count(), 0)
  t.deepEqual(faults, [])
})

test('a person who signed in a while ago must confirm the password before approving, and sees why', async t => {
  const { forge, code, page, faults } = await askedToApprove(t, 'bea')
  await forge.pool.query(
    `update auth.session set authenticated_at = authenticated_at - interval '16 minutes' where username = 'bea'`,
  )
  await page.getByRole('button', { name: 'Approve' }).click()
  const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' })
  await dialog.getByText(`Approve the program ${code.user_code}`).waitFor()
  await keepViews(page, 'device-ask-again')
  const state = async () =>
    (await forge.call('GET', `/api/cli/device/${code.user_code}`)).body.state
  t.is(await state(), 'pending')

  const password = dialog.getByLabel('Your password')
  await password.fill('not the password')
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await dialog.getByRole('alert').getByText('The current password is wrong').waitFor()
  t.is(await state(), 'pending')
  await password.fill(adminPassword)
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await heading(page, 'Approved').waitFor()
  t.is(await state(), 'approved')
  t.deepEqual(faults, [])
})

test('pages cannot be framed and load only their own files', async t => {
  const forge = await shared()
  const { status, headers } = await forge.call('GET', '/device?user_code=x', { token: null })
  t.is(status, 200)
  t.is(headers.get('x-frame-options'), 'DENY')
  const policy = headers.get('content-security-policy') ?? ''
  for (const rule of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "frame-ancestors 'none'",
    "form-action 'self'",
  ])
    t.true(policy.split('; ').includes(rule), rule)
  t.false(policy.includes('unsafe'))
})
