import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'
import { openSignedIn } from './browse.ts'

test('a chart is panned with Shift, with the middle button and by keyboard, and the others follow', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  await ingest(forge, run, 'lifecycle', { event: 'running' })
  const points = Array.from({ length: 1000 }, (_, step) => [
    { key: 'train/loss', step, value: 1 / (1 + step) },
    { key: 'val/loss', step, value: 2 / (1 + step) },
  ])
  await ingest(forge, run, 'metrics', { points: points.flat() })
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/runs/${run.short_id}/metrics?range=400..600`)
  const plot = page.getByRole('img', { name: 'train/loss' })
  const over = plot.locator('.u-over')
  await over.waitFor()
  const range = () => {
    const text = new URL(page.url()).searchParams.get('range') ?? ''
    const [from = Number.NaN, to = Number.NaN] = text.split('..').map(Number)
    return { from: Math.round(from), width: Math.round(to - from) }
  }
  const becomesFrom = async (from: number) => {
    await until(`the range begins at ${from}`, 20_000, () =>
      Promise.resolve(Math.abs(range().from - from) <= 2),
    )
    t.is(range().width, 200, 'its width stays')
  }
  const box = await over.boundingBox()
  if (box === null) throw new Error('the chart is not drawn')
  const [middle, high] = [box.x + box.width / 2, box.y + box.height / 2]
  const drag = async (by: number, button: 'left' | 'middle') => {
    await page.mouse.move(middle, high)
    await page.mouse.down({ button })
    await page.mouse.move(middle + (by * box.width) / 2, high, { steps: 5 })
    await page.mouse.move(middle + by * box.width, high, { steps: 5 })
    await page.mouse.up({ button })
  }

  // Dragging a quarter of the width to the left shows later steps.
  await page.keyboard.down('Shift')
  await drag(-0.25, 'left')
  await page.keyboard.up('Shift')
  await becomesFrom(450)
  t.is(await plot.locator('.forge-tip.pinned').count(), 0, 'it is no click')
  await drag(0.5, 'middle')
  await becomesFrom(350)

  await plot.focus()
  await page.keyboard.press('Shift+ArrowRight')
  await becomesFrom(370)
  await page.keyboard.press('Shift+ArrowLeft')
  await becomesFrom(350)

  // Without Shift a drag selects, as before.
  await drag(0.25, 'left')
  await until('it is zoomed', 20_000, () => Promise.resolve(range().width < 60))
  t.deepEqual(faults, [])
})
