import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { createServer } from 'vite'
import { sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { axeFinds, fits, openSignedIn } from './browse.ts'

const shared = sharedForge()
const root = join(import.meta.dirname, '../../clients/console')

/** The console as `npm run dev` serves it, in front of a server. */
async function dev(t: ExecutionContext, host: string): Promise<string> {
  const cacheDir = await mkdtemp(join(tmpdir(), 'forge-vite-'))
  const vite = await createServer({
    ...{ root, cacheDir, configFile: join(root, 'vite.config.ts'), logLevel: 'silent' },
    server: {
      host: '127.0.0.1',
      port: 0,
      proxy: { '/api': { target: host }, '/healthz': { target: host } },
    },
  })
  t.teardown(async () => {
    await vite.close()
    await rm(cacheDir, { recursive: true, force: true })
  })
  await vite.listen()
  return (vite.resolvedUrls?.local[0] ?? '').replace(/\/$/, '')
}

test('the design room shows every part, fits and breaks no rule of accessibility', async t => {
  t.timeout(patient(240_000))
  const forge = await shared()
  const url = await dev(t, forge.url)
  const { page, faults } = await openSignedIn(t, { url })
  await page.goto(`${url}/design`)
  await page.getByRole('heading', { name: 'Situations' }).waitFor()
  for (const width of [1440, 1024, 390]) {
    await page.setViewportSize({ width, height: 900 })
    await fits(page)
  }
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    t.deepEqual(await axeFinds(page), [], colorScheme)
  }
  await menuByKeyboard(t, page)
  await tipOnFocus(t, page)
  await dialogs(t, page)
  t.deepEqual(faults, [])
})

async function menuByKeyboard(t: ExecutionContext, page: Page): Promise<void> {
  const more = page.getByRole('button', { name: 'More actions' })
  await more.focus()
  await page.keyboard.press('Enter')
  const menu = page.getByRole('menu', { name: 'More actions' })
  await menu.waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Escape')
  await menu.waitFor({ state: 'detached' })
  t.true(await more.evaluate(one => one === document.activeElement))
  // The same button closes it again.
  await more.click()
  await menu.waitFor()
  await more.click()
  await menu.waitFor({ state: 'detached' })
}

async function tipOnFocus(t: ExecutionContext, page: Page): Promise<void> {
  const off = page.getByRole('button', { name: 'impossible' }).first()
  await off.focus()
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Tab')
  const tip = page.getByRole('tooltip')
  await tip.getByText('The reason, on hover and on focus').waitFor()
  const [button, box] = [await off.boundingBox(), await tip.boundingBox()]
  t.truthy(button && box && box.y + box.height <= button.y, 'it is above its button')
  t.is(await off.getAttribute('aria-describedby'), await tip.getAttribute('id'))
  await page.keyboard.press('Escape')
  await tip.waitFor({ state: 'detached' })
}

async function dialogs(t: ExecutionContext, page: Page): Promise<void> {
  const open = page.getByRole('button', { name: 'Open a question' })
  await open.click()
  const dialog = page.getByRole('dialog', { name: 'Stop vision-16' })
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
  t.true(await open.evaluate(one => one === document.activeElement))
  await page.getByRole('button', { name: 'Open a drawer' }).click()
  const drawer = page.getByRole('dialog', { name: 'History of side' })
  await drawer.getByRole('button', { name: 'Close' }).click()
  await drawer.waitFor({ state: 'detached' })
}
