import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { axeFinds, keepViews, openPage, signIn } from './browse.ts'

test('a person creates a volume, looks into it, makes a dataset of it, lets it grow and deletes it', async t => {
  const forge = await startForge(t, { SERVICE_ROLES: 'command-api,relay,projector,query-api' })
  const { page, faults } = await openPage(t)
  await page.goto(`${forge.url}/volumes`)
  await signIn(page)
  await page.getByText('No volumes yet').waitFor()
  await page.getByRole('button', { name: 'Create a volume' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('results')
  await dialog.getByLabel('Size, GB').fill('5')
  await dialog.getByRole('button', { name: 'Create a volume' }).click()
  const row = page.getByRole('row').filter({ hasText: 'results' })
  await row.getByText(/\b5 GB/).waitFor()

  const { rows } = await forge.pool.query<{ directory: string }>(
    'select directory from write.volume',
  )
  const folder = join(forge.dataDir, 'volumes', rows[0]?.directory ?? '')
  await mkdir(join(folder, 'round-3'), { recursive: true })
  for (let nth = 0; nth < 120; nth++)
    await writeFile(join(folder, `log-${String(nth).padStart(3, '0')}`), 'x')
  await writeFile(join(folder, 'round-3', 'rows.jsonl'), `${JSON.stringify({ text: 'a' })}\n`)
  await row.getByRole('link', { name: 'results' }).click()
  await page.getByRole('button', { name: 'Download log-099' }).waitFor()
  await keepViews(page, 'console-volume')
  t.deepEqual(await axeFinds(page), [])
  await page.getByRole('button', { name: 'Next page' }).click()
  await page.getByRole('button', { name: 'Download log-119' }).waitFor()
  await page.getByRole('button', { name: 'round-3/' }).click()
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download rows.jsonl' }).click()
  t.is((await saved).suggestedFilename(), 'rows.jsonl')

  await page.getByRole('button', { name: 'Snapshot' }).click()
  t.is(await dialog.getByLabel('File or folder').inputValue(), 'round-3')
  await dialog.getByLabel('Dataset').fill('admin/rows')
  await dialog.getByRole('button', { name: 'Begin' }).click()
  await page.getByRole('link', { name: 'admin/rows@1' }).waitFor()
  await page.getByRole('button', { name: 'Grow' }).click()
  await dialog.getByLabel('Size, GB').fill('9')
  await dialog.getByRole('button', { name: 'Grow' }).click()
  await page
    .getByText(/\b9 GB/)
    .first()
    .waitFor()
  await keepViews(page, 'console-volume-snapshot')
  await page.getByRole('button', { name: 'Delete' }).click()
  await dialog.getByText('No job needs it.').waitFor()
  t.deepEqual(await axeFinds(page), [])
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No volumes yet').waitFor()
  t.deepEqual(faults, [])
})
