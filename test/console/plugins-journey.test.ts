import test from 'ava'
import { sharedForge } from '../servers/forge.ts'
import { axeFinds, keepViews, looksRight, openSignedIn } from './browse.ts'

const shared = sharedForge({ SERVICE_ROLES: 'command-api,relay,projector,query-api' })

test('an administrator registers a plugin, keeps its secret, tests it and sees the call', async t => {
  const forge = await shared()
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/admin/plugins`)
  await page.getByRole('button', { name: 'New plugin' }).click()
  await page.getByLabel('Name', { exact: true }).fill('policy')
  // A name that nobody can resolve.
  await page.getByLabel('Address (https)').fill('https://policy.invalid/forge')
  await page.getByLabel('admission.validate').check()
  await page.getByLabel('job.terminal').check()
  await keepViews(page, 'console-plugins-editor')
  t.deepEqual(await axeFinds(page), [])
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The secret of policy, shown only once:').waitFor()
  await page.getByText(/^whsec_/).waitFor()
  await page.getByRole('button', { name: 'Test: policy' }).click()
  await page.getByText(/policy failed after/).waitFor()
  await looksRight(t, page, 'console-plugins')
  await page.getByRole('button', { name: 'Calls: policy' }).click()
  await page.getByRole('dialog').getByText('failed').waitFor()
  await keepViews(page, 'console-plugins-calls')
  t.deepEqual(await axeFinds(page), [])
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Remove: policy' }).click()
  await page.getByText('No plugins. Forge asks nobody.').waitFor()
  t.deepEqual(faults, [])
})
