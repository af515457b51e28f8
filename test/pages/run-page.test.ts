import test from 'ava'
import type { Page } from 'playwright-core'
import { keepViews, openPage, signIn } from '../console/browse.ts'
import { openBrowser } from '../servers/browser.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { createRun, type ExternalRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'

type SendReport = (route: string, body: object) => Promise<unknown>
async function createNamed(forge: Forge): Promise<{ run: ExternalRun; report: SendReport }> {
  const { body: run } = await forge.call<ExternalRun>('POST', '/api/runs', {
    body: { project: 'demo', name: 'two <b>lines</b>' },
  })
  return { run, report: (route, body) => ingest(forge, run, route, body) }
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

test('the page of a run signs a person in and shows state, charts and log live, to the end', async t => {
  const forge = await startForge(t)
  const { run, report } = await createNamed(forge)
  await report('lifecycle', { event: 'running' })
  await report('metrics', points(0, 100))
  await report('logs', { chunks: ['first line', '<script>alert(1)</script>'] })
  const { page, faults } = await openPage(t)
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
  const alert = page.locator('#alerts .open', { hasText: 'train/loss is NaN at step 150' })
  await alert.getByText('train/loss is not a finite number').waitFor()
  await report('logs', { chunks: ['a line that came later'] })
  await page.locator('#log').getByText('a line that came later').waitFor()
  await keepViews(page, 'run')

  await report('lifecycle', { event: 'succeeded' })
  await page.locator('#state', { hasText: 'succeeded' }).waitFor()
  await page.locator('#live', { hasText: 'ended' }).waitFor()
  t.deepEqual(faults, [])
})

/** Records what is written on canvases, which are otherwise only pixels. */
const recordCanvasTexts = `
  globalThis.canvasTexts = []
  const write = CanvasRenderingContext2D.prototype.fillText
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    canvasTexts.push(text)
    return write.call(this, text, ...rest)
  }`

/** How many pixels of a key's chart have the colour of its line. */
const colouredPixels = (page: Page, key: string): Promise<number> =>
  page
    .locator('.chart', { hasText: key })
    .locator('canvas')
    .evaluate((canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? {
        data: [],
      }
      let count = 0
      for (let at = 0; at < data.length; at += 4)
        if (data[at] === 0x0b && data[at + 1] === 0x62 && data[at + 2] === 0xc4) count++
      return count
    })

test('a failed run says why, with its last words, parameters, lone points and small numbers', async t => {
  const forge = await startForge(t)
  const { run, report } = await createNamed(forge)
  await report('lifecycle', { event: 'running' })
  await report('hparams', { params: { lr: 0.0003, 'opt/name': 'adam<b>w</b>' } })
  await report('metrics', {
    points: [
      { key: 'loss', step: 7, value: 0.5 },
      ...[1, 2, 3, 4].map(step => ({ key: 'lr', step, value: step * 1.2e-5 })),
    ],
  })
  await report('logs', { chunks: ['epoch 1'], stream: 'stdout' })
  const message = 'exit code 1\nTraceback (most recent call last):\nValueError: <b>bad</b> lr'
  const { page, faults } = await openPage(t)
  await page.addInitScript(recordCanvasTexts)
  await page.goto(`${forge.url}/runs/${run.run_id}`)
  await signIn(page)
  await page.locator('#state', { hasText: 'running' }).waitFor()
  t.false(await page.locator('#why-section').isVisible())
  t.deepEqual(
    await page
      .locator('#hparams tr')
      .evaluateAll(rows => rows.map(row => [...row.children].map(cell => cell.textContent))),
    [
      ['lr', '0.0003'],
      ['opt/name', 'adam<b>w</b>'],
    ],
  )
  await page.locator('.chart', { hasText: 'loss' }).getByText('at step 7').waitFor()
  await until('one point is drawn as a dot', 10_000, async () => {
    const pixels = await colouredPixels(page, 'loss')
    return pixels > 10 && pixels < 100
  })
  const drawn = async () => (await page.evaluate('canvasTexts')) as string[]
  await until('the other chart has its axis', 10_000, async () =>
    (await drawn()).some(text => text === '2e-5' || text === '0.00002'),
  )
  const texts = await drawn()
  t.true(texts.filter(text => text === '0').length < 3, 'an axis does not say 0, 0, 0')

  await report('lifecycle', { event: 'failed', exit_code: 1, message })
  await page.locator('#state', { hasText: 'failed' }).waitFor()
  await page.getByRole('heading', { name: 'Why it failed' }).waitFor()
  t.is(await page.locator('#why').textContent(), 'exit code 1: ValueError: <b>bad</b> lr')
  t.is(await page.locator('#last-words').textContent(), message)
  await page.locator('#live', { hasText: 'ended' }).waitFor()

  const { body } = await forge.call<Record<string, string>>('GET', `/api/runs/${run.run_id}`)
  t.true(String(body.last_report_at) <= String(body.ended_at), 'the end-of-log mark is no report')
  const facts = String(await page.locator('#facts').textContent())
  const ran = /ran for (\d+ s)/.exec(facts)?.[1]
  t.is(ran, `${body.duration_s} s`)
  t.is(await page.locator('#phases li', { hasText: 'running' }).textContent(), `running${ran}`)
  await keepViews(page, 'run-failed')
  // Charts follow a new width by the next frame, or some frames later on a busy machine.
  await until('it fits', 20_000, () =>
    page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
  )
  await page.getByRole('link', { name: 'Forge' }).click()
  await page.locator('#rows tr', { hasText: `${ran}` }).waitFor()
  t.deepEqual(faults, [])
})

test('without a message, the end of the log stands beside why a run failed', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  await ingest(forge, run, 'logs', { chunks: ['fine so far'], stream: 'stdout' })
  await ingest(forge, run, 'logs', { chunks: ['no such file'], stream: 'stderr' })
  await ingest(forge, run, 'lifecycle', { event: 'failed', exit_code: 137 })
  const { page, faults } = await openPage(t)
  await page.goto(`${forge.url}/runs/${run.run_id}`)
  await signIn(page)
  await page.locator('#last-words', { hasText: /^no such file$/ }).waitFor()
  t.is(await page.locator('#why').textContent(), 'exit code 137 (SIGKILL)')
  t.deepEqual(faults, [])
})

test('a browser whose language is none still shows the charts', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  await ingest(forge, run, 'metrics', { points: [{ key: 'loss', step: 1, value: 1.5 }] })
  const browser = await openBrowser(t)
  const page = await browser.newPage()
  // As Chromium says it without LANG.
  await page.addInitScript(`
    Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix' })`)
  await page.goto(`${forge.url}/runs/${run.run_id}`)
  await signIn(page)
  await page.locator('.chart', { hasText: 'loss' }).getByText('at step 1').waitFor()
  t.is(await page.locator('.chart').count(), 1)
})

test('a wrong password is reported, and a missing run says in the place of its content what to do', async t => {
  const forge = await startForge(t)
  const { page, faults } = await openPage(t)
  await page.goto(`${forge.url}/runs/run_nope`)
  await signIn(page, 'not the password')
  await page.getByRole('alert').getByText('Username or password is wrong').waitFor()
  await signIn(page)
  await page.getByRole('alert').getByText('No such run: run_nope').waitFor()
  t.false(await page.locator('#run').isVisible())
  t.true(((await page.locator('#failure').boundingBox())?.y ?? 800) < 200, 'it is at the top')
  await keepViews(page, 'run-unknown')
  await page.getByRole('link', { name: 'the newest runs' }).click()
  await page.getByText('No runs yet.').waitFor()
  t.deepEqual(faults, [])
})
