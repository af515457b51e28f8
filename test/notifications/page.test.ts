import test from 'ava'
import type { Page } from 'playwright-core'
import { adminPassword } from '../servers/api.ts'
import { openBrowser } from '../servers/browser.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun } from '../servers/runs.ts'
import { keepScreenshot } from '../servers/screenshot.ts'
import { signedIn } from '../servers/signed-in.ts'

const waitMs = patient(30_000)

const setQuota = (forge: Forge, token: string, max_concurrent_gpus: number) =>
  forge.call('POST', '/api/admin/quotas', {
    token,
    body: { username: 'admin', max_concurrent_gpus },
  })

async function openRun(page: Page, forge: Forge, runId: string): Promise<void> {
  await page.goto(`${forge.url}/runs/${runId}`)
  await page.getByLabel('Username').fill('admin')
  await page.getByLabel('Password').fill(adminPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

test('the page of a run counts unread notifications live, and shows and reads them', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  const another = await signedIn(forge, 'another-admin', 'admin')
  const browser = await openBrowser(t)
  const page = await browser.newPage({
    locale: 'en-US',
    viewport: { width: 1280, height: 800 },
    colorScheme: 'light',
  })
  page.setDefaultTimeout(waitMs)
  const faults: string[] = []
  page.on('pageerror', error => faults.push(String(error)))
  await openRun(page, forge, run.run_id)
  const mark = page.locator('.mark summary')
  await mark.getByText('0 unread notifications').waitFor()
  await setQuota(forge, another, 4)
  await mark.getByText('1 unread notification', { exact: true }).waitFor()
  await setQuota(forge, another, 6)
  await mark.click()
  const entry = page.locator('.mark li.unread')
  await entry.getByText('Your quota changed (×2)').waitFor()
  t.is(await entry.locator('p').textContent(), 'Up to 6 GPUs and 4 jobs at once')
  for (const [width, size] of [
    [1280, 'wide'],
    [390, 'narrow'],
  ] as const)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme })
      await keepScreenshot(page, `notifications-${colorScheme}-${size}`)
    }
  await page.getByRole('button', { name: 'Mark all read' }).click()
  await mark.getByText('0 unread notifications').waitFor()
  t.deepEqual(faults, [])
})
