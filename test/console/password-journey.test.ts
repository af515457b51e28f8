import test from 'ava'
import { adminPassword } from '../servers/api.ts'
import { startForge } from '../servers/forge.ts'
import { becomes, openPage, signIn } from './browse.ts'

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
