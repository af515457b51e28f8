import test from 'ava'
import type { Page } from 'playwright-core'
import { browserContext } from '../servers/browser.ts'
import { sharedForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'
import { becomes, createPerson, fits, keepViews, openPage, openSignedIn, signIn } from './browse.ts'
import { createNamed } from './named-run.ts'

const shared = sharedForge()

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

/** A chart by its title. */
const chart = (page: Page, title: string) =>
  page.getByRole('figure').filter({ has: page.getByRole('heading', { name: title, exact: true }) })

const state = (page: Page, text: string) =>
  page.getByRole('main').locator('header').getByText(text, { exact: true }).first()

test('the page of a run shows state, charts and log live, to the end', async t => {
  const forge = await shared()
  const { run, report } = await createNamed(forge)
  await report('lifecycle', { event: 'running' })
  await report('metrics', points(0, 100))
  await report('logs', { chunks: ['first line', '<script>alert(1)</script>'] })
  const { page, faults } = await openPage(t)
  await page.goto(`${forge.url}/runs/${run.run_id}/metrics`)
  await signIn(page)
  await state(page, 'running').waitFor()
  await page.locator('[data-live=live]').waitFor()
  await page.getByRole('heading', { name: 'two <b>lines</b>' }).waitFor()
  await chart(page, 'train/loss').getByText('at step 99').waitFor()
  // Four indexed siblings share one chart.
  await becomes(t, () => page.getByRole('figure').getByRole('heading').allTextContents(), [
    'train/loss',
    'train/accuracy',
    'val/accuracy[…]',
  ])

  await report('metrics', points(100, 150))
  const reported = Date.now()
  await chart(page, 'train/loss').getByText('at step 149').waitFor()
  t.log(`a point was on screen after ${Date.now() - reported} ms`)
  await report('metrics', { points: [{ key: 'train/loss', step: 150, value: 'NaN' }] })
  await chart(page, 'train/loss').getByText('1 not finite').waitFor()
  await keepViews(page, 'run-metrics')
  await page.setViewportSize({ width: 1280, height: 800 })

  await page.getByRole('link', { name: 'Log', exact: true }).click()
  await page.getByRole('log').getByText('<script>alert(1)</script>').waitFor()
  await report('logs', { chunks: ['a line that came later'] })
  await page.getByRole('log').getByText('a line that came later').waitFor()
  await keepViews(page, 'run-log')
  await page.setViewportSize({ width: 1280, height: 800 })

  await page.getByRole('link', { name: 'Overview' }).click()
  await page
    .getByRole('region', { name: 'Alerts' })
    .getByText('train/loss is NaN at step 150')
    .waitFor()
  await keepViews(page, 'run')
  await report('lifecycle', { event: 'succeeded' })
  await state(page, 'succeeded').waitFor()
  await becomes(t, () => page.title(), 'succeeded · two <b>lines</b> · Forge')
  t.deepEqual(faults, [])
})

/** Records the texts drawn on canvases, which are otherwise only pixels. */
const recordCanvasTexts = `
  globalThis.canvasTexts = []
  const write = CanvasRenderingContext2D.prototype.fillText
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    canvasTexts.push(text)
    return write.call(this, text, ...rest)
  }`

/** How many pixels of a chart have the colour of its line. */
const colouredPixels = (page: Page, title: string): Promise<number> =>
  chart(page, title)
    .locator('canvas')
    .evaluate((canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? {
        data: [],
      }
      let count = 0
      for (let at = 0; at < data.length; at += 4)
        if (data[at] === 0x15 && data[at + 1] === 0x65 && data[at + 2] === 0xc0) count++
      return count
    })

test('a failed run says why, with its last output, parameters, lone points and small numbers', async t => {
  const forge = await shared()
  const { run, report } = await createNamed(forge)
  await report('lifecycle', { event: 'running' })
  await report('hparams', { params: { lr: 0.0003, 'opt/name': 'adam<b>w</b>' } })
  const tag = { key: 'team', value: '<i>rl</i>' }
  await report('mlflow/api/2.0/mlflow/runs/set-tag', tag)
  await report('metrics', {
    points: [
      { key: 'loss', step: 7, value: 0.5 },
      ...[1, 2, 3, 4].map(step => ({ key: 'lr', step, value: step * 1.2e-5 })),
    ],
  })
  await report('logs', { chunks: ['epoch 1'], stream: 'stdout' })
  const message = 'exit code 1\nTraceback (most recent call last):\nValueError: <b>bad</b> lr'
  const { page, faults } = await openSignedIn(t, forge)
  await page.addInitScript(recordCanvasTexts)
  await page.goto(`${forge.url}/runs/${run.run_id}`)
  await state(page, 'running').waitFor()
  t.is(await page.locator('[data-fact=why]').count(), 0)
  const hparams = page.getByRole('region', { name: 'Hyperparameters' }).getByRole('row')
  const cells = () =>
    hparams.evaluateAll(rows =>
      rows.map(row => [...row.querySelectorAll('td')].map(cell => cell.textContent)).slice(1),
    )
  await becomes(t, cells, [
    ['lr', '0.0003'],
    ['opt/name', 'adam<b>w</b>'],
  ])
  await page.getByRole('region', { name: 'Labels' }).getByText('<i>rl</i>').waitFor()
  await chart(page, 'loss').getByText('at step 7').waitFor()
  await until('one point is drawn as a dot', 10_000, async () => {
    const pixels = await colouredPixels(page, 'loss')
    return pixels > 10 && pixels < 100
  })
  const drawn = async () => (await page.evaluate('canvasTexts')) as string[]
  await until('the other chart has its axis', 10_000, async () =>
    (await drawn()).some(text => text === '2e-5' || text === '0.00002'),
  )
  const labels = new Set((await drawn()).filter(text => /^(\d(\.\d)?e-5|0\.0000\d+)$/.test(text)))
  t.true(labels.size >= 3, `the labels of an axis differ: ${[...labels].join(' ')}`)

  await report('lifecycle', { event: 'failed', exit_code: 1, message })
  await state(page, 'failed').waitFor()
  await page.locator('[data-fact=why]', { hasText: 'ValueError: <b>bad</b> lr' }).waitFor()
  await becomes(t, () => page.locator('[data-fact=last_words]').textContent(), message)
  await keepViews(page, 'run-failed')
  // Charts follow a new width by the next frame, or some frames later on a busy machine.
  await fits(page)
  t.deepEqual(faults, [])
})

test('without a message, the end of the log appears next to the reason of a failure', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  await ingest(forge, run, 'logs', { chunks: ['fine so far'], stream: 'stdout' })
  await ingest(forge, run, 'logs', { chunks: ['no such file'], stream: 'stderr' })
  await ingest(forge, run, 'lifecycle', { event: 'failed', exit_code: 137 })
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/runs/${run.run_id}`)
  await page.locator('[data-fact=last_words]', { hasText: /^no such file$/ }).waitFor()
  const why = page.locator('[data-fact=why]')
  await becomes(t, () => why.textContent(), 'It was killed from outside (SIGKILL)')
  t.deepEqual(faults, [])
})

test('a browser with an invalid language still shows the charts', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  await ingest(forge, run, 'metrics', { points: [{ key: 'loss', step: 1, value: 1.5 }] })
  const page = await (await browserContext(t)).newPage()
  // As Chromium reports it without LANG.
  await page.addInitScript(`
    Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix' })`)
  await page.goto(`${forge.url}/runs/${run.run_id}`)
  await signIn(page)
  await chart(page, 'loss').getByText('at step 1').waitFor()
  await becomes(t, () => page.getByRole('figure').count(), 1)
})

test('a missing run and a wrong address say what to do in place of their content', async t => {
  const forge = await shared()
  // A person who sees none of the other tests' runs.
  await createPerson(forge, 'ada')
  const { page, faults } = await openSignedIn(t, forge, 'ada')
  await page.goto(`${forge.url}/runs/run_nope`)
  await page.getByRole('alert').getByText('No such run: run_nope').waitFor()
  await keepViews(page, 'run-unknown')
  const reply = await page.goto(`${forge.url}/no/such/page`)
  t.is(reply?.status(), 404)
  await page.getByText('This page does not exist').waitFor()
  await page.getByRole('link', { name: 'Go to your runs' }).click()
  await page.getByText('No runs yet.').waitFor()
  t.deepEqual(faults, [])
})

test('log output is shown as on a terminal, and never acts', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  const esc = '\u001b'
  await ingest(forge, run, 'logs', {
    chunks: [
      `${esc}[31mred${esc}[0m and ${esc}]8;;https://evil.example\u0007plain`,
      '10%|#\r50%|##\r100%|####',
      '<img src=x onerror=alert(1)>',
      'admin\u202etxt.exe',
      ...Array.from({ length: 3000 }, (_, n) => `step ${n}`),
    ],
  })
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/runs/${run.run_id}/logs?line=1`)
  const log = page.getByRole('log')
  await log.getByText('<img src=x onerror=alert(1)>').waitFor()
  await log.getByText('100%|####', { exact: true }).waitFor()
  await log.getByText('admin⟨202e⟩txt.exe').waitFor()
  t.is(await page.locator('img').count(), 0)
  await becomes(t, () => log.getByText('red', { exact: true }).count(), 1)
  t.is(await log.getByText('evil.example').count(), 0)

  await page.getByLabel('Follow').check()
  await log.getByText('step 2999', { exact: true }).waitFor()
  await ingest(forge, run, 'logs', { chunks: ['the newest'] })
  await log.getByText('the newest').waitFor()
  await page.getByLabel('Search the log').fill('step 1234')
  await page.getByRole('button', { name: 'Find', exact: true }).click()
  await page.getByText('1 line', { exact: true }).waitFor()
  await log.getByRole('link', { name: 'Line 1239' }).click()
  await log.getByText('step 1233', { exact: true }).waitFor()
  await page.waitForURL(/line=1239/)
  await page.getByRole('button', { name: 'Next hit' }).click()
  await page.getByText('That was the last one.').waitFor()
  await page.getByRole('button', { name: 'All hits' }).click()
  await page.getByText('1 line', { exact: true }).waitFor()
  await log.getByRole('link', { name: 'Line 1239' }).click()
  await page.reload()
  await log.getByText('step 1234', { exact: true }).waitFor()
  await becomes(t, () => page.getByLabel('Follow').isChecked(), false)

  await page.getByLabel('Search the log').fill('^step 1[0-9]{3}$')
  await page.getByLabel('Pattern').check()
  await page.keyboard.press('Enter')
  await page.getByText(/^(600 lines so far|1000 lines)/).waitFor()
  await page.getByLabel('Search the log').fill('(step')
  await page.getByRole('button', { name: 'Find', exact: true }).click()
  await page.getByRole('alert').getByText('missing closing ): (step').waitFor()
  await ingest(forge, run, 'logs', { chunks: ['RuntimeError: no error before', 'Fatal: end'] })
  await page.getByRole('button', { name: 'Whole log' }).click()
  await page.getByText('3007 lines').or(page.getByText('3,007 lines')).waitFor()
  await page.getByRole('button', { name: 'Errors' }).click()
  await page.getByText('3 lines', { exact: true }).waitFor()
  t.deepEqual(faults, [])
})
