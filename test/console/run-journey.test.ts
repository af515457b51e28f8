import { AxeBuilder } from '@axe-core/playwright'
import test from 'ava'
import type { Page } from 'playwright-core'
import { type Forge, startForge } from '../servers/forge.ts'
import { createRun, type ExternalRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'
import { keepViews, openPage, signIn } from './browse.ts'

async function createNamed(forge: Forge) {
  const { body: run } = await forge.call<ExternalRun>('POST', '/api/runs', {
    body: { project: 'demo', name: 'two <b>lines</b>' },
  })
  return { run, report: (route: string, body: object) => ingest(forge, run, route, body) }
}

const points = (from: number, to: number) => ({
  points: Array.from({ length: to - from }, (_, n) => {
    const step = from + n
    return [
      { key: 'train/loss', step, value: 2 * Math.exp(-step / 60) + 0.05 * Math.sin(step) },
      { key: 'train/accuracy', step, value: 1 - Math.exp(-step / 80) },
      { key: 'val/accuracy', step, value: 1 - Math.exp(-step / 90) },
      ...[0, 1, 2, 3].map(c => ({
        key: `val/accuracy/class_${c}`,
        step,
        value: 1 - Math.exp(-step / (50 + 20 * c)),
      })),
    ]
  }).flat(),
})

const chart = (page: Page, title: string) => page.getByRole('figure', { name: title, exact: true })

async function axeFinds(page: Page) {
  const { violations } = await new AxeBuilder({ page }).analyze()
  return violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html.slice(0, 200))])
}

test('a person follows a run to its end, sees new points at once, and zooms a chart', async t => {
  const forge = await startForge(t)
  const { run, report } = await createNamed(forge)
  await report('lifecycle', { event: 'running' })
  await report('hparams', { params: { lr: 0.0003, 'opt/name': 'adam<b>w</b>' } })
  await report('metrics', points(0, 100))
  const { page, faults } = await openPage(t)
  await page.goto(`${forge.url}/runs/${run.run_id}/metrics`)
  await signIn(page)
  await page.getByRole('heading', { level: 1, name: 'two <b>lines</b>' }).waitFor()
  await titled(page, 'running')
  await chart(page, 'train/loss').getByText('at step 99').waitFor()
  // A key that is also a prefix has a chart of its own; the siblings share one.
  t.deepEqual(await page.getByRole('figure').getByRole('heading').allTextContents(), [
    'train/accuracy',
    'train/loss',
    'val/accuracy',
    'val/accuracy[…]',
  ])

  const began = Date.now()
  await report('metrics', points(100, 150))
  await chart(page, 'train/loss').getByText('at step 149').waitFor()
  t.log(`a point was on the screen ${Date.now() - began} ms after it was sent`)
  await report('metrics', { points: [{ key: 'train/loss', step: 150, value: 'NaN' }] })
  await chart(page, 'train/loss').getByText('1 not finite').waitFor()
  await keepViews(page, 'console-run-metrics')
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.emulateMedia({ colorScheme: 'light' })

  const read = () => page.waitForResponse(response => response.url().includes('from='))
  const zoomed = read()
  await drag(page, 'train/loss')
  const { from, to } = Object.fromEntries(new URL((await zoomed).url()).searchParams)
  t.true(Number(from) > 20 && Number(to) < 120, `${from} to ${to}`)
  await chart(page, 'train/loss').getByRole('img').focus()
  const closer = read()
  await page.keyboard.press('+')
  const range = Object.fromEntries(new URL((await closer).url()).searchParams)
  t.true(Number(range.to) - Number(range.from) < (Number(to) - Number(from)) * 0.6)
  await page.getByRole('button', { name: 'Show all' }).click()
  await chart(page, 'train/loss').getByText('at step 150').waitFor()
  await chart(page, 'train/loss').getByRole('button', { name: 'Table' }).click()
  await page.getByRole('table', { name: 'train/loss' }).waitFor()
  t.deepEqual(await axeFinds(page), [])

  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByText('adam<b>w</b>').waitFor()
  await report('lifecycle', { event: 'succeeded' })
  await titled(page, 'succeeded')
  t.is(
    await page.getByRole('button', { name: 'Stop', exact: true }).getAttribute('aria-disabled'),
    'true',
  )
  await keepViews(page, 'console-run')
  await until('it fits', 20_000, () =>
    page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
  )
  t.deepEqual(await axeFinds(page), [])
  t.deepEqual(faults, [])
})

const titled = (page: Page, state: string) =>
  until(`the tab says ${state}`, 20_000, async () => (await page.title()).startsWith(state))

async function drag(page: Page, title: string) {
  const over = await chart(page, title).locator('.u-over').boundingBox()
  if (!over) throw new Error(`${title} is not drawn`)
  const y = over.y + over.height / 2
  await page.mouse.move(over.x + over.width * 0.3, y)
  await page.mouse.down()
  await page.mouse.move(over.x + over.width * 0.5, y, { steps: 4 })
  await page.mouse.move(over.x + over.width * 0.6, y, { steps: 4 })
  await page.mouse.up()
}

/** Records what is written on canvases, which are otherwise only pixels. */
const recordCanvasTexts = `
  globalThis.canvasTexts = []
  const write = CanvasRenderingContext2D.prototype.fillText
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    canvasTexts.push(text)
    return write.call(this, text, ...rest)
  }`

/** How many pixels of a chart have the colour of the first curve. */
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

test('a failed run says why, with its last words, lone points and small numbers', async t => {
  const forge = await startForge(t)
  const { run, report } = await createNamed(forge)
  await report('lifecycle', { event: 'running' })
  await report('metrics', {
    points: [
      { key: 'loss', step: 7, value: 0.5 },
      ...[1, 2, 3, 4].map(step => ({ key: 'lr', step, value: step * 1.2e-5 })),
    ],
  })
  const { page, faults } = await openPage(t)
  await page.addInitScript(recordCanvasTexts)
  await page.goto(`${forge.url}/runs/${run.run_id}`)
  await signIn(page)
  await chart(page, 'loss').getByText('0.5 at step 7').waitFor()
  await until('one point is drawn as a dot', 10_000, async () => {
    const pixels = await colouredPixels(page, 'loss')
    return pixels > 10 && pixels < 100
  })
  const drawn = async () => (await page.evaluate('canvasTexts')) as string[]
  await until('the other chart has its axis', 10_000, async () =>
    (await drawn()).some(text => text === '2e-5' || text === '0.00002'),
  )
  t.true((await drawn()).filter(text => text === '0').length < 3, 'an axis does not say 0, 0, 0')

  const message = 'exit code 1\nTraceback (most recent call last):\nValueError: <b>bad</b> lr'
  await report('lifecycle', { event: 'failed', exit_code: 1, message })
  await page.getByText('exit code 1: ValueError: <b>bad</b> lr').waitFor()
  const said = page.getByRole('region', { name: 'What it said last' })
  t.is(await said.locator('pre').textContent(), message)
  const phases = page.getByRole('list', { name: 'What it went through' })
  const { body } = await forge.call<{ duration_s: number }>('GET', `/api/runs/${run.run_id}`)
  await phases
    .getByRole('listitem')
    .filter({ hasText: `running ${body.duration_s} s` })
    .waitFor()
  await keepViews(page, 'console-run-failed')
  await until('it fits', 20_000, () =>
    page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
  )
  t.deepEqual(await axeFinds(page), [])
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
  await page.locator('pre', { hasText: /^no such file$/ }).waitFor()
  await page.getByText('exit code 137 (SIGKILL)').waitFor()
  t.deepEqual(faults, [])
})
