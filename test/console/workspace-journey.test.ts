import test from 'ava'
import type { Locator } from 'playwright-core'
import { startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { keepScreenshot } from '../servers/screenshot.ts'
import { axeFinds, becomes, fits, keepViews, openPage, openSignedIn, signIn } from './browse.ts'

test('a project is a workspace: its runs, their curves, and both live, all of it in the address', async t => {
  const forge = await startForge(t)
  const report = async (nth: number) => {
    const run = await createRun(forge, 'sweep')
    await ingest(forge, run, 'lifecycle', { event: 'running' })
    const points = Array.from({ length: 300 }, (_, step) => [
      { key: 'train/loss', step, value: 3 / (1 + step / (10 + nth)) + nth / 50 },
      { key: 'val/accuracy', step, value: step / (300 + nth * 10) },
      { key: 'lr', step, value: 10 ** -(3 + (nth % 3)) },
    ])
    await ingest(forge, run, 'metrics', { points: points.flat() })
    return run
  }
  const runs = []
  for (let nth = 0; nth < 24; nth++) runs.push(await report(nth))
  const [first, second] = runs
  await forge.call('PATCH', `/api/runs/${first?.run_id}`, {
    body: { name: 'The first of them, with a very long name λ 模型 🚀', starred: true },
  })
  await forge.call('PATCH', `/api/runs/${second?.run_id}`, { body: { archived: true } })

  const { page, faults, another } = await openPage(t)
  await page.goto(`${forge.url}/projects`)
  await signIn(page)
  await page.getByRole('link', { name: 'sweep' }).click()
  await page.getByText('10 of 23 runs shown').waitFor()
  const chart = page.getByRole('figure', { name: 'train/loss' })
  await chart.getByText('10 lines').waitFor()
  const titles = () => page.getByRole('figure').getByRole('heading').allTextContents()
  await becomes(t, titles, ['train/loss', 'val/accuracy', 'lr'])
  await keepViews(page, 'console-workspace')
  await page.setViewportSize({ width: 1440, height: 900 })
  t.deepEqual(await axeFinds(page), [])

  // A section of one chart uses all of the width, and the head of a chart one line, whatever its actions.
  await page.setViewportSize({ width: 1280, height: 800 })
  const widthOf = async (of: Locator) => (await of.boundingBox())?.width ?? 0
  const whole = await widthOf(page.getByRole('region', { name: 'Curves' }))
  t.true((await widthOf(chart)) > whole * 0.9)
  const head = await chart.locator('figcaption').boundingBox()
  t.true((head?.height ?? 99) < 40, `the head of a chart is ${head?.height} px high`)
  await page.setViewportSize({ width: 1440, height: 900 })

  // A hidden run leaves every chart, and the address says which are shown. Its curves are not read again.
  const hides = page.getByLabel('Show sweep-24 (sweep-24)')
  const asked: URL[] = []
  page.on('request', request => asked.push(new URL(request.url())))
  await hides.uncheck()
  await chart.getByText('9 lines').waitFor()
  await hides.check()
  await chart.getByText('10 lines').waitFor()
  await hides.uncheck()
  await chart.getByText('9 lines').waitFor()
  const runsOf = ({ searchParams }: URL) => searchParams.get('runs')?.split(',').length
  const sizes = asked.filter(({ pathname }) => pathname.endsWith('/series')).map(runsOf)
  // The runs are live, so that the same ten are polled; no request names nine.
  t.deepEqual(
    sizes.filter(size => size !== 10),
    [],
  )
  await page.getByLabel(/^Show The first of them/).check()
  await chart.getByText('10 lines').waitFor()
  await page.waitForURL(/runs=1,15-23|runs=1%2C15-23/)
  const other = await another()
  await other.goto(page.url())
  await other.getByRole('figure', { name: 'train/loss' }).getByText('10 lines').waitFor()
  await other.close()

  // The tooltip names the run under the cursor, whose row stands out.
  const plot = page.getByRole('img', { name: 'train/loss' })
  await plot.focus()
  await page.keyboard.press('ArrowRight')
  await plot
    .locator('.forge-tip')
    .getByText(/sweep-2\d/)
    .first()
    .waitFor()
  await plot.hover({ position: { x: 300, y: 120 } })
  await keepScreenshot(page, 'console-workspace-tip')

  // A click keeps it in place until the next one.
  const tip = plot.locator('.forge-tip')
  const place = { position: { x: 300, y: 120 } }
  await plot.click(place)
  await plot.locator('.forge-tip.pinned').waitFor()
  const kept = await tip.textContent()
  await plot.hover({ position: { x: 120, y: 60 } })
  t.is(await tip.textContent(), kept)
  await plot.click(place)
  await becomes(t, () => plot.locator('.forge-tip.pinned').count(), 0)
  await plot.hover({ position: { x: 120, y: 60 } })
  await becomes(t, async () => (await tip.textContent()) === kept, false)

  // A search narrows the list, and refuses in place.
  const search = page.getByRole('searchbox', { name: 'Search the runs of this project' })
  await search.fill('starred:true')
  await page.keyboard.press('Enter')
  await page.getByText('1 of 1 runs shown').waitFor()
  await search.fill('state:')
  await page.keyboard.press('Enter')
  await page
    .getByRole('alert')
    .getByText(/column/)
    .waitFor()
  await search.fill('')

  // A new run appears without a reload.
  await page.getByText('10 of 23 runs shown').waitFor()
  await report(25)
  await page.getByText('10 of 24 runs shown').waitFor()
  await page.getByRole('row').getByText('sweep-25').waitFor()
  await page.setViewportSize({ width: 390, height: 800 })
  await fits(page)

  // The page of a run leads back to the workspace.
  await page.goto(`${forge.url}/runs/sweep-25`)
  await page.locator('main header').getByRole('link', { name: 'sweep', exact: true }).click()
  await page.getByText('10 of 24 runs shown').waitFor()
  t.deepEqual(faults, [])
})

test('a project that one may not read looks like one that does not exist', async t => {
  const forge = await startForge(t)
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/projects/none`)
  await page.getByRole('alert').getByText('No such project').waitFor()
  t.deepEqual(faults, [])
})
