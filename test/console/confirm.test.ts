import test, { type ExecutionContext } from 'ava'
import { nameOfAct } from '../../clients/console/src/shell/acts.ts'
import { startWithRealProvider } from '../oidc/provider.ts'
import { adminPassword } from '../servers/api.ts'
import { sharedForge } from '../servers/forge.ts'
import {
  axeFinds,
  becomes,
  createPerson,
  keepViews,
  openPage,
  openSignedIn,
  signInAtProvider,
} from './browse.ts'

const shared = sharedForge()

/** The page of people, of an administrator who signed in a while ago. */
async function longSignedIn(t: ExecutionContext, admin: string, ...people: string[]) {
  const forge = await shared()
  await createPerson(forge, admin, 'admin')
  for (const one of people) await createPerson(forge, one)
  const opened = await openSignedIn(t, forge, admin)
  await forge.pool.query(
    `update auth.session set authenticated_at = authenticated_at - interval '16 minutes' where username = $1`,
    [admin],
  )
  await opened.page.goto(`${forge.url}/admin/people`)
  const isDisabled = async (username: string) =>
    (await forge.call('GET', `/api/admin/users/${username}`)).body.disabled
  const disable = (username: string) =>
    opened.page
      .getByRole('row', { name: username })
      .getByRole('button', { name: 'Disable' })
      .click()
  return { ...opened, forge, isDisabled, disable }
}

test('a dangerous act asks for the password, names the act, and is then done without losing it', async t => {
  const { page, faults, isDisabled, disable } = await longSignedIn(t, 'grace', 'ada', 'bea')
  await disable('ada')
  const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' })
  await dialog.getByText('Change ada: this needs a sign-in of the last 15 minutes.').waitFor()
  await keepViews(page, 'console-confirm')
  t.deepEqual(await axeFinds(page), [])

  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('alert').getByText('Your sign-in is older than 15 minutes').waitFor()
  t.false(await isDisabled('ada'))

  await disable('ada')
  const confirm = async (password: string) => {
    await dialog.getByLabel('Your password').fill(password)
    await dialog.getByRole('button', { name: 'Confirm' }).click()
  }
  await confirm('not my password')
  await dialog.getByRole('alert').getByText('The current password is wrong').waitFor()
  t.false(await isDisabled('ada'))
  await confirm(adminPassword)
  await dialog.waitFor({ state: 'detached' })
  await becomes(t, () => isDisabled('ada'), true)

  await disable('bea')
  await becomes(t, () => isDisabled('bea'), true, 'the sign-in is recent now')
  t.is(await dialog.count(), 0)
  t.deepEqual(faults, [])
})

test('where people sign in with a provider, a dangerous act sends them there', async t => {
  const { forge, base, people } = await startWithRealProvider(t)
  people.set('boss', { preferred_username: 'boss', groups: ['forge-admins'] })
  const { page, faults } = await openPage(t)
  await page.goto(`${base}/admin/maintenance`)
  await signInAtProvider(page, 'boss')
  await page.getByRole('heading', { name: 'Maintenance' }).first().waitFor()
  await forge.pool.query(
    `update auth.session set authenticated_at = authenticated_at - interval '16 minutes'`,
  )
  await page.getByRole('button', { name: 'Switch on' }).click()
  const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' })
  await dialog.getByText('Switch maintenance: this needs').waitFor()
  t.is(await dialog.getByLabel('Your password').count(), 0)
  const href = await dialog
    .getByRole('link', { name: 'Sign in with Example ID' })
    .getAttribute('href')
  const { searchParams } = new URL(String(href))
  t.is(searchParams.get('prompt'), 'login')
  t.is(searchParams.get('return_to'), '/admin/maintenance')
  t.deepEqual(faults, [])
})

test('an act is named with its target, and an unknown request has no name', t => {
  t.deepEqual(nameOfAct('PATCH', '/api/admin/users/ada%20b'), ['Change ada b', '更改 ada b'])
  t.is(nameOfAct('GET', '/api/admin/users'), null)
})
