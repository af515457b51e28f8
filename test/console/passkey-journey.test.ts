import test, { type ExecutionContext } from 'ava'
import { adminPassword } from '../servers/api.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { axeFinds, keepViews, openPage, signIn } from './browse.ts'

/** A page at the host name of the installation, in a browser with an authenticator. */
async function withAuthenticator(t: ExecutionContext, forge: Forge) {
  const origin = `http://localhost:${new URL(forge.url).port}`
  const { page, faults } = await openPage(t)
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  const setVerified = (isUserVerified: boolean) =>
    devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })
  const signOut = async () => {
    await page.getByRole('button', { name: 'Account: admin' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
  }
  const views = async (name: string) => {
    await keepViews(page, name)
    await page.setViewportSize({ width: 1280, height: 800 })
  }
  return { page, faults, origin, setVerified, signOut, views }
}

test('a person registers a passkey in the settings, signs in with it alone, and removes it', async t => {
  const forge = await startForge(t)
  const { page, faults, origin, setVerified, signOut, views } = await withAuthenticator(t, forge)
  await page.goto(`${origin}/settings`)
  await signIn(page)
  const panel = page.getByRole('region', { name: 'Passkeys' })
  await panel.getByText('A passkey of your device signs you in').waitFor()
  await panel.getByLabel('Name').fill('Laptop λ')
  await panel.getByRole('button', { name: 'Register a passkey' }).click()
  await panel.getByRole('cell', { name: 'Laptop λ', exact: true }).waitFor()
  await page.getByText(/Keep these recovery codes/).waitFor()
  await page.getByRole('button', { name: 'I have kept them' }).click()
  await page.getByText(/Your passkeys are a second factor, too/).waitFor()
  await views('console-passkeys')
  t.deepEqual(await axeFinds(page), [])

  await signOut()
  const enter = page.getByRole('button', { name: 'Sign in with a passkey' })
  await enter.waitFor()
  await views('console-passkey-sign-in')
  // A cancelled attempt can be repeated.
  await setVerified(false)
  await enter.click()
  await page.getByRole('alert').getByText('No passkey was used').waitFor()
  await setVerified(true)
  await enter.click()
  await panel.getByRole('cell', { name: 'Laptop λ', exact: true }).waitFor()
  await page.getByRole('cell', { name: /^passkey/ }).waitFor()

  // A sign-in that is not recent is confirmed with the passkey, too.
  await forge.pool.query(`update auth.session set authenticated_at = now() - interval '1 hour'`)
  await panel.getByRole('button', { name: 'Remove Laptop λ' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Use a passkey' }).click()
  await panel.getByText('A passkey of your device signs you in').waitFor()
  t.deepEqual(faults, [])
})

test('where everybody needs a second factor, a passkey is registered first, and asked for after the password', async t => {
  const forge = await startForge(t, { SERVICE_SECOND_FACTOR: 'everybody' })
  const { page, faults, origin, setVerified, signOut, views } = await withAuthenticator(t, forge)
  await page.goto(`${origin}/settings`)
  await signIn(page)
  await page.getByText(/Until you have set it up/).waitFor()
  await page.getByRole('heading', { name: 'Or an authenticator app' }).waitFor()
  await views('console-required-passkey')
  t.deepEqual(await axeFinds(page), [])
  await page.getByRole('button', { name: 'Register a passkey' }).click()
  await page.getByText(/Keep these recovery codes/).waitFor()
  const [recovery = ''] = await page
    .getByRole('listitem')
    .filter({ hasText: /^\w{4}-/ })
    .allInnerTexts()
  await page.getByRole('button', { name: 'I have kept them' }).click()
  const settings = page.getByRole('heading', { name: 'Settings' })
  await settings.waitFor()

  await signOut()
  await signIn(page)
  const usePasskey = page.getByRole('button', { name: 'Use a passkey' })
  await usePasskey.waitFor()
  await views('console-passkey-second-step')
  t.deepEqual(await axeFinds(page), [])
  // A cancelled attempt can be repeated.
  await setVerified(false)
  await usePasskey.click()
  await page.getByRole('alert').getByText('No passkey was used').waitFor()
  await setVerified(true)
  await usePasskey.click()
  await settings.waitFor()
  await page.getByRole('cell', { name: /^password/ }).waitFor()

  // The dialog asks for it after the password, too.
  await forge.pool.query(`update auth.session set authenticated_at = now() - interval '1 hour'`)
  await page.getByRole('button', { name: 'Remove This device' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Your password').fill(adminPassword)
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await dialog.getByLabel('Recovery code').waitFor()
  await dialog.getByRole('button', { name: 'Use a passkey' }).click()
  await page
    .getByRole('alert')
    .getByText(/This is your last second factor/)
    .waitFor()

  await signOut()
  await signIn(page)
  await page.getByLabel('Recovery code').fill(recovery)
  await page.getByRole('button', { name: 'Verify' }).click()
  await settings.waitFor()
  await page.getByText(/Recovery codes left: 9/).waitFor()
  t.deepEqual(faults, [])
})
