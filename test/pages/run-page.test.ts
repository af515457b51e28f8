import test from 'ava'
import type { Page } from 'playwright-core'
import { adminPassword } from '../servers/api.ts'
import { openBrowser } from '../servers/browser.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { keepScreenshot } from '../servers/screenshot.ts'

type Created = { run_id: string; token: string }
type SendReport = (route: string, body: object) => Promise<unknown>

const waitMs = 20_000

async function externalRun(forge: Forge): Promise<{ run: Created; report: SendReport }> {
  const { body: run } = await forge.call<Created>('POST', '/api/runs', {
    body: { project: 'demo', name: 'two <b>lines</b>' },
  })
  const report: SendReport = (route, body) =>
    forge.call('POST', `/api/ingest/${route}`, {
      token: run.token,
      body: { run_id: run.run_id, ...body },
    })
  return { run, report }
}

const points = (from: number, to: number) => ({
  points: Array.from({ length: to - from }, (_, n) => {
    const step = from + n
    return [
      { key: 'train/loss', step, value: 2 * Math.exp(-step / 60) + 0.05 * Math.sin(step) },
      { key: 'train/accuracy', step, value: 1 - Math.exp(-step / 80) },
      ...[0, 1, 2, 3].map(c => ({
        key: `val/accuracy/class_${c}`,
        step,
        value: 1 - Math.exp(-step / (50 + 20 * c)),
      })),
    ]
  }).flat(),
})

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('Username').fill('admin')
  await page.getByLabel('Password').fill(adminPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

test('the page of a run signs a person in and shows state, charts and log live, to the end', async t => {
  const forge = await startForge(t)
  const { run, report } = await externalRun(forge)
  await report('lifecycle', { event: 'running' })
  await report('metrics', points(0, 100))
  await report('logs', { chunks: ['first line', '<script>alert(1)</script>'] })
  const browser = await openBrowser(t)
  const page = await browser.newPage({
    locale: 'en-US',
    viewport: { width: 1280, height: 900 },
    colorScheme: 'light',
  })
  const faults: string[] = []
  page.on('pageerror', error => faults.push(String(error)))
  page.on('console', message => {
    // Before the sign-in, the browser itself reports the refused refresh.
    if (message.type() === 'error' && !message.location().url.endsWith('/api/auth/refresh'))
      faults.push(message.text())
  })
  page.setDefaultTimeout(waitMs)
  await page.goto(`${forge.url}/runs/${run.run_id}`)
  await signIn(page)
  await page.locator('#state', { hasText: 'running' }).waitFor()
  await page.locator('#live', { hasText: 'live' }).waitFor()
  t.false(await page.locator('#sign-in').isVisible())
  t.is(await page.locator('#name').textContent(), 'two <b>lines</b>')
  await page.locator('.chart', { hasText: 'train/loss' }).getByText('at step 99').waitFor()
  // Four siblings share one chart.
  t.deepEqual(
    await page.locator('.chart h3').evaluateAll(all => all.map(h => h.firstChild?.textContent)),
    ['train/accuracy', 'train/loss', 'val/accuracy'],
  )
  await page.locator('#log').getByText('<script>alert(1)</script>').waitFor()

  await report('metrics', points(100, 150))
  await page.locator('.chart', { hasText: 'train/loss' }).getByText('at step 149').waitFor()
  await report('metrics', { points: [{ key: 'train/loss', step: 150, value: 'NaN' }] })
  await page.locator('.chart', { hasText: 'train/loss' }).getByText('1 not finite').waitFor()
  await report('logs', { chunks: ['a line that came later'] })
  await page.locator('#log').getByText('a line that came later').waitFor()
  await keepScreenshot(page, 'run-light-wide')
  await page.emulateMedia({ colorScheme: 'dark' })
  await keepScreenshot(page, 'run-dark-wide')
  await page.setViewportSize({ width: 390, height: 844 })
  await keepScreenshot(page, 'run-dark-narrow')
  await page.emulateMedia({ colorScheme: 'light' })
  await keepScreenshot(page, 'run-light-narrow')

  await report('lifecycle', { event: 'succeeded' })
  await page.locator('#state', { hasText: 'succeeded' }).waitFor()
  await page.locator('#live', { hasText: 'ended' }).waitFor()
  t.deepEqual(faults, [])
})

test('a wrong password and a missing run are reported', async t => {
  const forge = await startForge(t)
  const browser = await openBrowser(t)
  const page = await browser.newPage({ locale: 'en-US' })
  page.setDefaultTimeout(waitMs)
  await page.goto(`${forge.url}/runs/run_nope`)
  await page.getByLabel('Username').fill('admin')
  await page.getByLabel('Password').fill('not the password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').getByText('Username or password is wrong').waitFor()
  await page.getByLabel('Password').fill(adminPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').getByText('run_nope').waitFor()
  t.is(await page.locator('#run').isVisible(), true)
})
