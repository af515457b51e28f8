import test from 'ava'
import type { Locator, Page } from 'playwright-core'
import { type Forge, startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { keepScreenshot } from '../servers/screenshot.ts'
import { axeFinds, becomes, createPerson, fits, keepViews, openSignedIn } from './browse.ts'

/** A sweep in which the loss depends on `lr` alone. */
async function sweep(forge: Forge, runs: number) {
  for (let nth = 0; nth < runs; nth++) {
    const run = await createRun(forge, 'sweep')
    const lr = 10 ** -(1 + (nth % 4))
    const opt = nth % 3 === 0 ? 'sgd' : 'adam'
    await ingest(forge, run, 'hparams', { params: { lr, depth: 2 + ((nth * 7) % 5), opt } })
    const points = Array.from({ length: 60 }, (_, step) => [
      { key: 'train/loss', step, value: (1 + (nth % 4)) * (1 + 1 / (1 + step)) },
      { key: 'val/accuracy', step, value: 1 - (1 + (nth % 4)) / 10 - 1 / (2 + step) },
      { key: 'tokens', step, value: step * 1000 * (1 + (nth % 2)) },
    ])
    await ingest(forge, run, 'metrics', { points: points.flat() })
  }
}

test('panels show a sweep: which hyperparameter mattered, all by keyboard, and the same for somebody else', async t => {
  const forge = await startForge(t)
  await sweep(forge, 24)
  await createPerson(forge, 'bob')
  await forge.call('PUT', '/api/projects/sweep/members/bob', { body: { role: 'viewer' } })
  const { page, faults } = await openSignedIn(t, forge)
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto(`${forge.url}/projects/sweep`)
  await page.getByText('10 of 24 runs shown').waitFor()
  await page.getByRole('button', { name: 'All', exact: true }).click()
  const titles = () =>
    page
      .getByRole('region', { name: 'Pinned' })
      .locator('figcaption')
      .getByRole('heading')
      .allTextContents()

  const add = async (kind: string, fields: Record<string, string> = {}) => {
    await page.getByRole('button', { name: 'Add panel' }).focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Add a panel' })
    await dialog.getByLabel('Kind').selectOption({ label: kind })
    for (const [label, value] of Object.entries(fields))
      await dialog.getByLabel(label, { exact: true }).fill(value)
    t.deepEqual(await axeFinds(page), [], kind)
    await dialog.getByRole('button', { name: 'Save' }).focus()
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
  }
  await add('Importance of hyperparameters', { Metric: 'train/loss:last' })
  const shares = page.getByRole('list', { name: 'Importance of hyperparameters: train/loss' })
  const most = async () => (await shares.getByRole('listitem').allTextContents())[0] ?? ''
  await becomes(t, async () => /^lr[89]\d %/.test(await most()), true, 'the loss depends on lr')
  await add('Scatter plot', {
    'Horizontal axis': 'hparams.lr',
    'Vertical axis': 'train/loss:min',
    Colour: 'hparams.depth',
  })
  const scatter = page.getByRole('img', { name: 'train/loss (min) / lr' })
  await becomes(t, () => scatter.locator('circle').count(), 24)
  const fills = () =>
    scatter.locator('circle').evaluateAll(all => all.map(one => getComputedStyle(one).fill))
  t.is(new Set(await fills()).size, 5, 'a colour for each depth')
  await add('Parallel coordinates')
  const parallel = page.getByRole('figure', { name: 'Parallel coordinates' })
  await becomes(t, () => parallel.locator('path').count(), 24)
  await add('Bars of values', { Metric: 'val/accuracy:last' })
  await add('Note', { 'Text in Markdown': '# 结论\n\n`lr` matters 🚀' })
  await page.getByRole('figure', { name: 'Note' }).getByText('matters 🚀').waitFor()
  await add('Line chart', { Metrics: 'train/loss', 'Horizontal axis': 'tokens', 'To value': '3' })
  await page.getByRole('figure', { name: 'train/loss / tokens' }).getByText('24 lines').waitFor()

  // A brush chooses runs, which can be shown alone.
  const bound = parallel.getByRole('slider', { name: 'lr: lower bound' })
  await bound.focus()
  for (let nth = 0; nth < 18; nth++) await page.keyboard.press('ArrowUp')
  await parallel.getByText('6 of 24 runs').waitFor()

  // Moved and resized by keyboard.
  await page.getByRole('button', { name: 'Move Note' }).focus()
  await page.keyboard.press('ArrowLeft')
  await becomes(t, async () => (await titles()).indexOf('Note'), 3)
  await page.keyboard.press('Shift+ArrowRight')
  await page.waitForURL(/panels=.*%22w%22%3A4|panels=.*"w":4/)
  await page.getByRole('button', { name: 'Actions: val/accuracy', exact: true }).first().click()
  await page.getByRole('menuitem', { name: 'Show as a table' }).click()
  await page.getByRole('table', { name: 'val/accuracy' }).waitFor()
  await keepViews(page, 'console-workspace-panels')
  await page.setViewportSize({ width: 1440, height: 900 })
  t.deepEqual(await axeFinds(page), [])

  // Saved for the project, it is what somebody else sees first.
  await page.getByRole('button', { name: 'Views' }).click()
  const views = page.getByRole('dialog', { name: 'Views of sweep' })
  await views.getByLabel('Name of this view').fill('lr 的影响')
  await views.getByLabel('Visible to everybody in the project').check()
  await views.getByRole('button', { name: 'Save' }).click()
  await views.getByRole('button', { name: 'lr 的影响', exact: true }).waitFor()
  await views.getByRole('button', { name: 'Rename: lr 的影响' }).click()
  await views.getByLabel('New name of lr 的影响').fill('effect of lr')
  await page.keyboard.press('Enter')
  await views.getByRole('button', { name: 'effect of lr', exact: true }).waitFor()
  await views.getByRole('button', { name: 'Make this the default' }).click()
  await views.getByRole('button', { name: 'Replace the default with this' }).waitFor()
  t.deepEqual(await axeFinds(page), [])
  await views.getByLabel('Close', { exact: true }).click()
  const seen = await titles()
  t.is(seen.length, 6)

  const other = await openSignedIn(t, forge, 'bob')
  await other.page.goto(`${forge.url}/projects/sweep`)
  const theirs = other.page.getByRole('region', { name: 'Pinned' }).locator('figcaption')
  await becomes(t, () => theirs.getByRole('heading').allTextContents(), seen)
  await other.page.getByText('24 of 24 runs shown').waitFor()
  await other.page.getByRole('button', { name: 'View: Project default' }).click()
  const list = other.page.getByRole('list', { name: 'Views' })
  await list.getByRole('button', { name: 'effect of lr' }).waitFor()
  t.is(await list.getByRole('button', { name: /^Delete/ }).count(), 0)
  await other.page.keyboard.press('Escape')

  // The address alone shows the same.
  await page.goto('about:blank')
  await page.goto(`${forge.url}/projects/sweep?runs=3-5`)
  await page.getByText('3 of 24 runs shown').waitFor()
  await becomes(t, titles, [])
  await page.getByRole('button', { name: 'Actions: tokens' }).click()
  await page.getByRole('menuitem', { name: 'Pin', exact: true }).click()
  await becomes(t, titles, ['tokens'])
  const address = page.url()
  await other.page.goto(address)
  await becomes(t, () => theirs.getByRole('heading').allTextContents(), ['tokens'])
  await other.page.getByText('3 of 24 runs shown').waitFor()
  await page.setViewportSize({ width: 390, height: 800 })
  await fits(page)
  t.deepEqual([...faults, ...other.faults], [])
})

type Box = { x: number; y: number; width: number; height: number }

/** The panels in the address of a page. */
const panelsIn = (page: Page): { w?: number; filter?: string; kind: string }[] =>
  JSON.parse(new URL(page.url()).searchParams.get('panels') ?? '[]')

const withPanels = (panels: readonly object[]) => encodeURIComponent(JSON.stringify(panels))

test('forms of panels name missing input, panels draw values that arrive later, and a drag is one step back', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge, 'late')
  const other = await createRun(forge, 'late')
  for (const one of [run, other])
    await ingest(forge, one, 'metrics', { points: [{ key: 'loss', step: 1, value: 1 }] })
  const { page, faults } = await openSignedIn(t, forge)
  await page.setViewportSize({ width: 1440, height: 900 })
  const parallel = { kind: 'parallel', axes: ['hparams.lr', 'hparams.depth'], w: 3 }
  await page.goto(`${forge.url}/projects/late?filter=gaussian&panels=${withPanels([parallel])}`)
  const drawn = page.getByRole('figure', { name: 'Parallel coordinates' })
  await drawn.getByText('No run has these values.').waitFor()
  await ingest(forge, run, 'hparams', { params: { lr: 0.1, depth: 2 } })
  await ingest(forge, other, 'hparams', { params: { lr: 0.2, depth: 3 } })
  await becomes(t, () => drawn.locator('path').count(), 2)
  t.true(Number(await drawn.locator('svg').last().getAttribute('width')) > 200)

  await page.setViewportSize({ width: 1024, height: 768 })
  const bottomOf = async (name: string) => {
    const { y, height } = (await page.getByRole('button', { name }).boundingBox()) ?? t.fail()
    return y + height
  }
  const field = await page.getByRole('searchbox', { name: 'Filter' }).last().boundingBox()
  t.is(await bottomOf('Add panel'), (field?.y ?? 0) + (field?.height ?? 0), 'on one line')
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.getByRole('button', { name: 'Add panel' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a panel' })
  await dialog.getByLabel('Kind').selectOption({ label: 'Parallel coordinates' })
  await dialog.getByLabel('Axes').fill('hparams.lr\nhparams.lr')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('Name at least two different axes.').waitFor()
  await keepScreenshot(page, 'console-panel-form-incomplete')
  t.deepEqual(await axeFinds(page), [])
  await dialog.getByLabel('Kind').selectOption({ label: 'Line chart' })
  await dialog.getByLabel('Smoothing by').selectOption({ label: 'Exponential average' })
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  await becomes(t, async () => panelsIn(page)[1]?.filter, 'exponential')

  // A drag is one step back, and a cancelled one none.
  const box = await drawn.boundingBox()
  const grip = page.locator('[class*="grip"]').first()
  const corner = await grip.boundingBox()
  if (box === null || corner === null) throw new Error('the panel is not shown')
  const [x, y] = [corner.x + corner.width / 2, corner.y + corner.height / 2]
  const steps = () => page.evaluate<number>('history.length')
  const before = await steps()
  const column = box.width / 3
  const widthOf = async () => (await drawn.boundingBox())?.width ?? 0
  await page.mouse.move(x, y)
  await page.mouse.down()
  await page.mouse.move(x + column, y)
  await becomes(t, async () => (await widthOf()) > box.width + column / 2, true)
  await grip.dispatchEvent('pointercancel', { pointerId: 1 })
  await becomes(t, widthOf, box.width)
  await page.mouse.move(x + 2 * column, y)
  await page.mouse.up()
  await page.mouse.move(x, y)
  await page.mouse.down()
  await page.mouse.move(x + column, y)
  await becomes(t, async () => (await widthOf()) > box.width + column / 2, true)
  await page.keyboard.press('Escape')
  await becomes(t, widthOf, box.width)
  await page.mouse.move(x + 2 * column, y)
  await page.mouse.up()
  t.is(await steps(), before)
  await page.mouse.move(x, y)
  await page.mouse.down()
  for (const by of [1, 2, 1]) await page.mouse.move(x + by * column, y, { steps: 4 })
  t.is(await steps(), before)
  await page.mouse.up()
  await becomes(t, async () => panelsIn(page)[0]?.w, 4)
  t.is(await steps(), before + 1)

  // Learning rates over more than two decades have a logarithmic axis, and no label touches a handle.
  for (const [one, lr] of [
    [run, 0.00001],
    [other, 0.1],
  ] as const)
    await ingest(forge, one, 'hparams', { params: { lr, depth: 2 } })
  await becomes(t, () => drawn.getByText('0.001', { exact: true }).count(), 1)
  const boxesOf = async (parts: Locator) =>
    (await Promise.all((await parts.all()).map(part => part.boundingBox()))).filter(
      box => box !== null,
    )
  const labels = await boxesOf(drawn.locator('svg text'))
  const handles = await boxesOf(drawn.getByRole('slider'))
  t.is(handles.length, 4)
  const isNear = (a: Box, b: Box) =>
    a.x < b.x + b.width + 5 &&
    b.x < a.x + a.width + 5 &&
    a.y < b.y + b.height &&
    b.y < a.y + a.height
  t.deepEqual(
    labels.filter(label => handles.some(handle => isNear(label, handle))),
    [],
  )

  const many = Array.from({ length: 40 }, () => ({ kind: 'note', text: '' }))
  await page.goto(`${forge.url}/projects/late?panels=${withPanels(many)}`)
  await page.getByRole('figure', { name: 'loss', exact: true }).scrollIntoViewIfNeeded()
  await page.getByRole('button', { name: 'Actions: loss', exact: true }).click()
  const pin = page.getByRole('menuitem', { name: /^Pin/ })
  await pin.getByText('The address has no room for another panel').waitFor()
  t.deepEqual(await axeFinds(page), [])
  await pin.click({ force: true })
  t.true(await pin.isVisible())
  t.is(panelsIn(page).length, 40)
  await keepViews(page, 'console-workspace-full')
  t.deepEqual(faults, [])
})

test('a view is replaced and deleted only on request, and opens only on its own page', async t => {
  const forge = await startForge(t)
  await createRun(forge, 'kept')
  const path = '/api/projects/kept/views'
  for (const [view, q] of [
    ['one', 'loss<1'],
    ['two', 'loss<2'],
    ['default', 'loss<3'],
  ])
    await forge.call('PUT', `${path}/${view}`, { body: { state: { q } } })
  const stateOf = async (view: string) =>
    (await forge.call<{ state?: { q: string } }>('GET', `${path}/${view}`)).body.state?.q
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/projects/kept?q=loss%3C4`)
  await page.getByRole('button', { name: 'Views' }).click()
  const views = page.getByRole('dialog', { name: 'Views of kept' })
  const save = async (name: string) => {
    await views.getByLabel('Name of this view').fill(name)
    await views.getByRole('button', { name: 'Save' }).click()
  }
  await save('one')
  await views.getByText('You already have a view with this name.').waitFor()
  await save('default')
  await views.getByText('This is the name of the project default.').waitFor()
  await views.getByRole('button', { name: 'Rename: two' }).click()
  await views.getByLabel('New name of two').fill('one')
  await page.keyboard.press('Enter')
  await views.getByRole('listitem').getByText('You already have a view').waitFor()
  t.deepEqual(await axeFinds(page), [])
  await views.getByRole('listitem').getByRole('button', { name: 'Cancel' }).click()
  t.deepEqual(
    [await stateOf('one'), await stateOf('two'), await stateOf('default')],
    ['loss<1', 'loss<2', 'loss<3'],
  )

  await views.getByRole('button', { name: 'Delete: two' }).click()
  const question = page.getByRole('dialog', { name: 'Delete the view two' })
  await question.getByRole('button', { name: 'Cancel' }).click()
  t.is(await stateOf('two'), 'loss<2')
  await views.getByRole('button', { name: 'Delete: two' }).click()
  await keepViews(page, 'console-workspace-view-deleted')
  await question.getByRole('button', { name: 'Delete' }).click()
  await becomes(t, () => stateOf('two'), undefined)
  await views.getByRole('button', { name: 'Replace: one' }).click()
  await page
    .getByRole('dialog', { name: 'Replace the view one' })
    .getByRole('button', { name: 'Replace', exact: true })
    .click()
  await becomes(t, () => stateOf('one'), 'loss<4')

  await page.setViewportSize({ width: 1440, height: 900 })
  // Somebody who left while the default view was read stays there.
  const held = Promise.withResolvers<void>()
  const asked = page.waitForRequest(/views\/default/)
  await page.route(/views\/default/, async route => {
    await held.promise
    await route.continue()
  })
  await page.goto(`${forge.url}/projects/kept`)
  await asked
  await page.getByRole('link', { name: 'Runs', exact: true }).first().click()
  await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor()
  const answered = page.waitForResponse(/views\/default/)
  held.resolve()
  await (await answered).finished()
  await page.evaluate(
    'new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))',
  )
  t.is(new URL(page.url()).search, '')
  t.deepEqual(faults, [])
})
