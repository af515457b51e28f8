import test from 'ava'
import type { Page } from 'playwright-core'
import { sharedForge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'
import { axeFinds, becomes, fits, keepViews, openSignedIn } from './browse.ts'
import { createNamed } from './named-run.ts'

const shared = sharedForge()

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

test('a person follows a run to its end, sees new points at once, and zooms a chart', async t => {
  const forge = await shared()
  const { run, report } = await createNamed(forge)
  await report('lifecycle', { event: 'running' })
  await report('hparams', { params: { lr: 0.0003, 'opt/name': 'adam<b>w</b>' } })
  await report('metrics', points(0, 100))
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/runs/${run.run_id}/metrics`)
  await page.getByRole('heading', { level: 1, name: 'two <b>lines</b>' }).waitFor()
  await titled(page, 'running')
  await chart(page, 'train/loss').getByText('at step 99').waitFor()
  // A key that is also a prefix has its own chart; the siblings share one.
  await becomes(t, () => page.getByRole('figure').getByRole('heading').allTextContents(), [
    'train/loss',
    'train/accuracy',
    'val/accuracy',
    'val/accuracy[…]',
  ])

  // The title names a single line, and the tooltip has its values; the legend names several lines.
  const single = chart(page, 'train/loss')
  t.is(await single.locator('.u-legend').count(), 0)
  await single.locator('.u-over').hover()
  await single.locator('.forge-tip b').waitFor()
  const named = chart(page, 'val/accuracy[…]').locator('.u-series:not(.extreme)')
  const classes = ['class_0', 'class_1', 'class_2', 'class_3']
  await becomes(t, async () => (await named.allInnerTexts()).map(text => text.trim()), classes)

  const began = Date.now()
  await report('metrics', points(100, 150))
  await chart(page, 'train/loss').getByText('at step 149').waitFor()
  t.log(`a point was on the screen ${Date.now() - began} ms after it was sent`)
  await report('metrics', { points: [{ key: 'train/loss', step: 150, value: 'NaN' }] })
  await chart(page, 'train/loss').getByText('1 not finite').waitFor()

  const read = () => page.waitForResponse(response => response.url().includes('from='))
  const zoomed = read()
  await drag(page, 'train/loss')
  const { from, to } = Object.fromEntries(new URL((await zoomed).url()).searchParams)
  t.true(Number(from) > 20 && Number(to) < 120, `${from} to ${to}`)
  await chart(page, 'train/loss').getByRole('img').focus()
  // Other charts may still be reading the wider range.
  const closer = page.waitForResponse(response => {
    const { from: first, to: last } = Object.fromEntries(new URL(response.url()).searchParams)
    return Number(last) - Number(first) < (Number(to) - Number(from)) * 0.6
  })
  await page.keyboard.press('+')
  await closer
  await page.getByRole('button', { name: 'Show all' }).click()
  await chart(page, 'train/loss').getByText('at step 150').waitFor()
  await chart(page, 'train/loss').getByRole('button', { name: 'Actions: train/loss' }).click()
  await page.getByRole('menuitem', { name: 'Show as a table' }).click()
  await page.getByRole('table', { name: 'train/loss' }).waitFor()
  t.deepEqual(await axeFinds(page), [])
  // Last: a change of colours or width redraws every chart.
  await keepViews(page, 'console-run-metrics')
  await page.setViewportSize({ width: 1280, height: 800 })

  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByText('adam<b>w</b>').waitFor()
  await report('lifecycle', { event: 'succeeded' })
  await titled(page, 'succeeded')
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor({ state: 'detached' })
  await keepViews(page, 'console-run')
  await fits(page)
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

test('the tables of an overview show all their columns on a wide page', async t => {
  const forge = await shared()
  const { run, report } = await createNamed(forge)
  await report('hparams', { params: { lr: 0.0003 } })
  await report('metrics', points(0, 120))
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/runs/${run.run_id}`)
  const metrics = page.getByRole('region', { name: 'Metrics' }).getByRole('group')
  await metrics.getByText('val/accuracy/class_0').waitFor()
  for (const width of [1280, 1440, 1920]) {
    await page.setViewportSize({ width, height: 900 })
    const isWhole = () => metrics.evaluate(one => one.scrollWidth <= one.clientWidth)
    await becomes(t, isWhole, true, `${width}`)
  }
  t.deepEqual(faults, [])
})
