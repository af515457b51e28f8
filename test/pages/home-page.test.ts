import test from 'ava'
import { adminPassword } from '../servers/api.ts'
import { commandLine } from '../servers/command-line.ts'
import { startForge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'
import { keepViews, openPage, signIn } from './browse.ts'

const newPassword = 'a password of my own'
const thirdPassword = 'and another one later'

test('a person signs in at /, finds the newest runs, and changes their password', async t => {
  const forge = await startForge(t)
  const create = (name: string) =>
    forge.call<{ run_id: string; short_id: string; token: string }>('POST', '/api/runs', {
      body: { project: 'demo', name },
    })
  const { page, faults } = await openPage(t)

  const reply = await page.goto(forge.url)
  const policy = reply?.headers()['content-security-policy'] ?? ''
  t.true(policy.includes("script-src 'self'") && !policy.includes('unsafe'), policy)
  await page.getByLabel('Username').waitFor()
  await keepViews(page, 'home-sign-in')
  await signIn(page)
  await page.getByText('No runs yet.').waitFor()

  const { body: first } = await create('one <b>bold</b> run')
  await forge.call('POST', '/api/ingest/lifecycle', {
    token: first.token,
    body: { run_id: first.run_id, event: 'running' },
  })
  const { body: second } = await create('another')
  await page.getByRole('link', { name: second.short_id }).waitFor()
  await page.locator('.badge.running').waitFor()
  const rows = await page.locator('#rows tr').allTextContents()
  t.is(rows.length, 2)
  t.regex(String(rows[0]), /another/)
  t.regex(String(rows[1]), /one <b>bold<\/b> run/)
  await keepViews(page, 'home')
  await page.setViewportSize({ width: 360, height: 800 })
  await until('it fits', 20_000, () =>
    page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
  )
  await page.getByRole('link', { name: first.short_id }).click()
  await page.locator('#name', { hasText: 'one <b>bold</b> run' }).waitFor()
  await page.getByRole('link', { name: 'Forge' }).click()
  await page.getByRole('link', { name: 'admin' }).click()

  const change = async (current: string, wanted: string, again: string) => {
    await page.getByLabel('Current password').fill(current)
    await page.getByLabel('New password', { exact: true }).fill(wanted)
    await page.getByLabel('New password again').fill(again)
    await page.getByRole('button', { name: 'Change it' }).click()
  }
  await change('not the password', newPassword, newPassword)
  await page.getByRole('alert').getByText('The current password is wrong').waitFor()
  await change(adminPassword, newPassword, thirdPassword)
  await page.getByRole('alert').getByText('not the same').waitFor()
  await keepViews(page, 'account')
  await change(adminPassword, newPassword, newPassword)
  await page.getByRole('status').getByText('Changed. Your other sessions have ended.').waitFor()

  await page.getByRole('link', { name: 'Forge' }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await signIn(page, newPassword)
  await page.getByRole('link', { name: second.short_id }).waitFor()
  t.deepEqual(faults, [])
})

test('forge passwd changes the password of whoever is signed in', async t => {
  const forge = await startForge(t)
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const passwd = (stdin: string) => run(['passwd', '--passwords-stdin'], { stdin })
  const wrong = await passwd(`nonsense\n${newPassword}\n`)
  t.is(wrong.code, 4)
  t.regex(wrong.stderr, /current password is wrong/)
  t.is((await passwd(`${adminPassword}\n`)).code, 2)
  const { code, stderr } = await passwd(`${adminPassword}\n${newPassword}\n`)
  t.is(code, 0, stderr)
  const login = (password: string) =>
    forge.call('POST', '/api/auth/login', { token: null, body: { username: 'admin', password } })
  t.is((await login(adminPassword)).status, 401)
  t.is((await login(newPassword)).status, 200)
  t.is((await forge.call('GET', '/api/auth/me')).status, 200, 'this session goes on')
})
