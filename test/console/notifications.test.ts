import test from 'ava'
import { type Forge, startForge } from '../servers/forge.ts'
import { createRun } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { keepViews, openSignedIn } from './browse.ts'

const setQuota = (forge: Forge, token: string, max_concurrent_gpus: number) =>
  forge.call('POST', '/api/admin/quotas', {
    token,
    body: { username: 'admin', max_concurrent_gpus },
  })

test('every page counts unread notifications live; the feed shows and reads them', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  const another = await signedIn(forge, 'another-admin', 'admin')
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/runs/${run.run_id}`)
  const bell = page.getByRole('banner').getByRole('link', { name: 'Notifications' })
  await bell.waitFor()
  t.is(await bell.getByText('unread').count(), 0)
  await setQuota(forge, another, 4)
  await bell.getByText('1 unread').waitFor()
  await setQuota(forge, another, 6)
  await bell.click()
  const entry = page.getByRole('main').getByRole('listitem')
  await entry.getByText('Your quota changed ×2').waitFor()
  await entry.getByText('Up to 6 GPUs and 4 jobs at once').waitFor()
  await keepViews(page, 'notifications')
  await page.getByRole('button', { name: 'Mark all read' }).click()
  await bell.getByText('unread').waitFor({ state: 'detached' })
  await page.getByLabel('Unread only').click()
  await page.getByText('Everything is read.').waitFor()
  t.deepEqual(faults, [])
})
