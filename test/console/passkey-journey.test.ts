import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { axeFinds, keepViews, openPage, signIn } from './browse.ts'

test('a person registers a passkey in the settings, signs in with it alone, and removes it', async t => {
  const forge = await startForge(t)
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
  await page.goto(`${origin}/settings`)
  await signIn(page)
  const panel = page.getByRole('region', { name: 'Passkeys' })
  await panel.getByText('A passkey of your device signs you in').waitFor()
  await panel.getByLabel('Name').fill('Laptop λ')
  await panel.getByRole('button', { name: 'Register a passkey' }).click()
  await panel.getByRole('cell', { name: 'Laptop λ', exact: true }).waitFor()
  await keepViews(page, 'console-passkeys')
  await page.setViewportSize({ width: 1280, height: 800 })
  t.deepEqual(await axeFinds(page), [])

  const signOut = async () => {
    await page.getByRole('button', { name: 'admin' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
  }
  await signOut()
  const enter = page.getByRole('button', { name: 'Sign in with a passkey' })
  await enter.waitFor()
  await keepViews(page, 'console-passkey-sign-in')
  await page.setViewportSize({ width: 1280, height: 800 })
  // A cancelled attempt can be repeated.
  await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
  await enter.click()
  await page.getByRole('alert').getByText('No passkey was used').waitFor()
  await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
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
