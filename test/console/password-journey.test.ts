import test from 'ava'
import { adminPassword } from '../servers/api.ts'
import { startForge } from '../servers/forge.ts'
import { axeFinds, becomes, keepViews, openPage, signIn } from './browse.ts'

test('a person changes the password, sees the fault in it, and signs in with the new one', async t => {
  const forge = await startForge(t)
  const { page, faults } = await openPage(t)
  await page.goto(`${forge.url}/settings`)
  const shown = page.getByLabel('Password')
  t.is(await shown.getAttribute('type'), 'password')
  t.is(await shown.getAttribute('autocomplete'), 'current-password')
  await signIn(page)
  const [current, next, again] = [
    page.getByLabel('Current password'),
    page.getByLabel('New password', { exact: true }),
    page.getByLabel('New password again'),
  ]
  const change = async (texts: [string, string, string]) => {
    for (const [nth, field] of [current, next, again].entries()) await field.fill(texts[nth] ?? '')
    await page.getByRole('button', { name: 'Change password' }).click()
  }
  for (const [field, offered] of [
    [current, 'current-password'],
    [next, 'new-password'],
    [again, 'new-password'],
  ] as const)
    t.deepEqual(
      [await field.getAttribute('type'), await field.getAttribute('autocomplete')],
      ['password', offered],
    )
  const chosen = 'staple battery horse 7'
  const alert = page.getByRole('alert')
  await change([adminPassword, chosen, `${chosen}!`])
  await alert.getByText('The new passwords do not match.').waitFor()
  await change(['not my password', chosen, chosen])
  await alert.getByText(/password/i).waitFor()
  await change([adminPassword, 'iloveyouforever1', 'iloveyouforever1'])
  await alert.getByText(/common|guess/i).waitFor()
  await change([adminPassword, chosen, chosen])
  await page.getByText('Changed. Your other sessions have ended.').waitFor()
  await becomes(t, () => current.inputValue(), '', 'no password is left on the page')
  t.is((await forge.call('GET', '/api/auth/sessions')).status, 401, 'the other session has ended')

  // This session continues, and the next one begins only with the new password.
  await page.getByRole('heading', { name: 'Sessions' }).waitFor()
  await page.reload()
  await current.waitFor()
  await page.getByRole('button', { name: 'Sign out everywhere' }).click()
  await signIn(page)
  await alert.waitFor()
  await signIn(page, { password: chosen })
  await page.getByRole('heading', { name: 'Settings' }).waitFor()
  t.deepEqual(faults, [])
})

test('a person whose password was generated chooses one on any page, and then sees the page', async t => {
  const forge = await startForge(t)
  const { body } = await forge.call<{ password: string }>('POST', '/api/admin/users', {
    body: { username: 'ada', role: 'admin' },
  })
  const { page, faults } = await openPage(t)
  await page.goto(`${forge.url}/admin`)
  await signIn(page, { username: 'ada', password: body.password })
  await page.getByRole('heading', { name: 'Choose your password' }).waitFor()
  await keepViews(page, 'console-generated-password')
  t.deepEqual(await axeFinds(page), [])
  await page.getByLabel('Current password').fill(body.password)
  await page.getByLabel('New password', { exact: true }).fill('staple battery horse 7')
  await page.getByLabel('New password again').fill('staple battery horse 7')
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByRole('heading', { name: 'People' }).waitFor()
  t.deepEqual(faults, [])
})
