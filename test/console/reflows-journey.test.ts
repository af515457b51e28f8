import test from 'ava'
import { startTalks, untilCaptured } from '../reflows/talks.ts'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { looksRight, openPage, signIn } from './browse.ts'

type Row = { reflow_id: string }

test('a person creates a reflow, reads its preview, and follows a row from traffic to the dataset', async t => {
  t.timeout(patient(180_000))
  const forge = await startForge(t)
  const talks = await startTalks(t, forge, 'tutor')
  const { page, faults } = await openPage(t)
  await page.goto(`${forge.url}/reflows`)
  await signIn(page)
  await page.getByText('No reflows yet').waitFor()
  await page.getByRole('button', { name: 'New reflow' }).click()
  const dialog = page.getByRole('dialog', { name: 'New reflow' })
  await dialog.getByLabel('Name').fill('what people ask')
  await dialog.getByLabel('Dataset').fill('admin/asked')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('heading', { name: 'what people ask' }).waitFor()
  await page.getByText('0 of 0 rows would be taken').waitFor()

  await talks.talk('My card is 4111 1111 1111 1111', { user: 'ada' })
  const { body } = await forge.call<Row[]>('GET', '/api/reflows')
  await untilCaptured(forge, body[0]?.reflow_id ?? '', 1)
  await page.getByRole('button', { name: 'Look again' }).click()
  await page.getByText('1 of 1 rows would be taken').waitFor()
  await page.getByText('My card is [card]', { exact: true }).waitFor()
  await looksRight(t, page, 'console-reflow')

  await page.getByRole('button', { name: 'Fire now' }).click()
  const versions = page.getByRole('table', { name: 'Firings and versions' })
  await versions.getByRole('link', { name: 'admin/asked@1' }).click()
  await page.getByRole('heading', { name: 'admin/asked', exact: true }).waitFor()
  await page.getByText('My card is [card]').first().waitFor()

  await page.goto(`${forge.url}/reflows`)
  await page.getByRole('link', { name: 'what people ask' }).click()
  await page.getByRole('button', { name: 'Erase a person' }).click()
  const erasing = page.getByRole('dialog', { name: 'Erase a person' })
  await erasing.getByLabel('Person').fill('ada')
  await erasing.getByRole('button', { name: 'Erase a person' }).click()
  await erasing.getByText('1 captured requests were deleted').waitFor()
  await erasing.getByRole('link', { name: 'admin/asked@1' }).waitFor()
  await erasing.getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No reflows yet').waitFor()
  t.deepEqual(faults, [])
})
