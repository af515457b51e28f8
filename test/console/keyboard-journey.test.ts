import test from 'ava'
import { type Forge, startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'
import { axeFinds, becomes, createPerson, openSignedIn } from './browse.ts'
import { choose, press, tabTo, write } from './keyboard.ts'
import { askWho, deployTwo, serveNamed } from './two-models.ts'

// Whole journeys with real key presses alone: neither a pointer nor a focus that the test sets.

/** Twelve runs whose loss depends on `lr` alone, with three seeds. */
async function sweep(forge: Forge): Promise<void> {
  for (let nth = 0; nth < 12; nth++) {
    const run = await createRun(forge, 'sweep')
    const lr = 10 ** -(1 + (nth % 4))
    await ingest(forge, run, 'hparams', { params: { lr, seed: nth % 3, depth: (nth * 7) % 5 } })
    const points = Array.from({ length: 30 }, (_, step) => [
      { key: 'train/loss', step, value: (1 + (nth % 4)) * (1 + 1 / (1 + step)) + nth / 1000 },
      { key: 'val/acc', step, value: 1 - (1 + (nth % 4)) / 10 },
      { key: 'lr', step, value: lr },
    ])
    await ingest(forge, run, 'metrics', { points: points.flat() })
  }
}

test('by keyboard: the best run of a sweep, which hyperparameter mattered, and groups by seed', async t => {
  t.timeout(patient(240_000))
  const forge = await startForge(t)
  await sweep(forge)
  const { page, faults } = await openSignedIn(t, forge)
  const { keyboard } = page
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto(forge.url)
  await page.getByRole('heading', { level: 1 }).waitFor()

  // The best run: the list of runs, sorted by the metric, its first row opened.
  await keyboard.type('gr')
  await page.getByText('12 runs', { exact: true }).waitFor()
  await press(page, page.getByRole('columnheader', { name: 'train/loss' }).getByRole('button'))
  const sorted = page.getByRole('columnheader', { name: 'train/loss' })
  await becomes(t, () => sorted.getAttribute('aria-sort'), 'descending')
  await keyboard.press('Enter')
  await becomes(t, () => sorted.getAttribute('aria-sort'), 'ascending')
  const first = page.getByRole('row').nth(1).getByRole('link').first()
  await becomes(t, () => first.textContent(), 'sweep-1')
  t.deepEqual(await axeFinds(page), [])
  // The keys of the table: up to its first row, and open it.
  await tabTo(page, page.getByRole('grid'))
  for (let pressed = 0; pressed < 12; pressed++) await keyboard.press('k')
  await keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'sweep-1' }).waitFor()

  // What mattered: a panel of the workspace.
  await press(page, page.locator('main header').getByRole('link', { name: 'sweep', exact: true }))
  await page.getByText('10 of 12 runs shown').waitFor()
  await press(page, page.getByRole('button', { name: 'All', exact: true }))
  await press(page, page.getByRole('button', { name: 'Add panel' }))
  const dialog = page.getByRole('dialog', { name: 'Add a panel' })
  await choose(page, dialog.getByLabel('Kind'), 'Importance of hyperparameters')
  await write(page, dialog.getByLabel('Metric', { exact: true }), 'train/loss:last')
  await press(page, dialog.getByRole('button', { name: 'Save' }))
  const shares = page.getByRole('list', { name: 'Importance of hyperparameters: train/loss' })
  const most = async () => (await shares.getByRole('listitem').allTextContents())[0] ?? ''
  await becomes(t, async () => /^lr\d\d %/.test(await most()), true, 'the loss depends on lr')

  // Groups by seed: the mean of four runs, whose losses are 1 to 4 times the same, ± their standard deviation.
  await choose(page, page.getByLabel('Group by'), 'seed')
  await page.getByText('3 groups of 12 runs').waitFor()
  const rows = page.getByRole('list', { name: 'Groups of runs' }).getByRole('listitem')
  await becomes(t, () => rows.allTextContents(), [
    '▸ 04 runs2.59 ± 1.33',
    '▸ 14 runs2.59 ± 1.34',
    '▸ 24 runs2.59 ± 1.33',
  ])
  t.deepEqual(await axeFinds(page), [])
  t.deepEqual(faults, [])
})

test('by keyboard: three charts are pinned, and the address shows them to somebody else', async t => {
  t.timeout(patient(240_000))
  const forge = await startForge(t)
  await sweep(forge)
  await createPerson(forge, 'bob')
  await forge.call('PUT', '/api/projects/sweep/members/bob', { body: { role: 'viewer' } })
  const { page, faults } = await openSignedIn(t, forge)
  const { keyboard } = page
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto(`${forge.url}/projects/sweep`)
  await page.getByText('10 of 12 runs shown').waitFor()
  await choose(page, page.getByLabel('Group by'), 'seed')
  await page.getByText('3 groups of 12 runs').waitFor()
  for (const key of ['train/loss', 'val/acc', 'lr']) {
    const chart = page
      .getByRole('region', { name: 'Curves' })
      .getByRole('figure', { name: key, exact: true })
    await press(page, chart.getByRole('button', { name: `Actions: ${key}`, exact: true }))
    const pin = page.getByRole('menuitem', { name: 'Pin', exact: true })
    await pin.waitFor()
    for (let n = 0; n < 20 && !(await pin.evaluate(one => one === document.activeElement)); n++)
      await keyboard.press('ArrowDown')
    await keyboard.press('Enter')
    await page
      .getByRole('region', { name: 'Pinned' })
      .getByRole('heading', { name: key, exact: true })
      .waitFor()
  }
  const other = await openSignedIn(t, forge, 'bob')
  await other.page.goto(page.url())
  const titles = (of: typeof page) => () =>
    of
      .getByRole('region', { name: 'Pinned' })
      .locator('figcaption')
      .getByRole('heading')
      .allTextContents()
  const seen = await titles(page)()
  t.is(seen.length, 3)
  await becomes(t, titles(other.page), seen)
  await other.page.getByText('3 groups of 12 runs').waitFor()
  t.deepEqual([...faults, ...other.faults], [])
})

test('by keyboard: an external run is found, renamed, tagged, starred and annotated', async t => {
  const forge = await startForge(t)
  await createRun(forge)
  const run = await createRun(forge)
  const { page, faults } = await openSignedIn(t, forge)
  const { keyboard } = page
  await page.goto(forge.url)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').waitFor()
  await keyboard.type(run.short_id)
  await keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: run.short_id }).waitFor()

  await press(page, page.getByRole('button', { name: `Star ${run.short_id}` }), 'Space')
  await press(page, page.getByRole('button', { name: 'Rename' }))
  await write(page, page.getByLabel('Name', { exact: true }), 'baseline')
  await keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'baseline' }).waitFor()
  await press(page, page.getByRole('button', { name: 'More actions' }))
  await page.getByRole('menuitem', { name: 'Tags' }).waitFor()
  await keyboard.type('t')
  await keyboard.press('Enter')
  await write(page, page.getByLabel('Tags, separated by commas'), 'kept')
  await keyboard.press('Enter')
  await page.getByText('kept', { exact: true }).waitFor()
  await press(page, page.getByRole('button', { name: 'Add notes' }))
  await write(page, page.getByRole('textbox', { name: 'Notes' }), 'Ask @admin: **why** so good?')
  await keyboard.press('Control+Enter')
  await page.getByText('why', { exact: true }).waitFor()
  t.deepEqual(await axeFinds(page), [])
  const { body } = await forge.call<object>('GET', `/api/runs/${run.run_id}`)
  t.like(body, {
    ...{ name: 'baseline', starred: true, tags: ['kept'], notes: 'Ask @admin: **why** so good?' },
  })
  t.deepEqual(faults, [])
})

test('by keyboard: a revision is promoted and rolled back, a token is created and revoked, and two models chat', async t => {
  t.timeout(patient(240_000))
  const forge = await startForge(t)
  const id = await deployTwo(forge, [await serveNamed(t, 'one'), await serveNamed(t, 'two')])
  const { page, faults } = await openSignedIn(t, forge)
  const { keyboard } = page
  await page.goto(forge.url)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await keyboard.type('gd')
  await press(page, page.getByRole('main').getByRole('link', { name: 'tutor' }))
  await page.getByRole('heading', { name: 'tutor', level: 1 }).waitFor()

  await press(page, page.getByRole('button', { name: 'Promote: Revision 2' }))
  const promote = page.getByRole('dialog', { name: 'Promote revision 2 of tutor' })
  await write(page, promote.getByLabel('Reason'), 'better')
  await press(page, promote.getByRole('button', { name: 'Promote' }))
  const history = page.getByRole('group', { name: 'History' })
  await history.getByText('better').waitFor()

  await press(page, page.getByRole('button', { name: 'New token' }))
  const naming = page.getByRole('dialog', { name: 'New token of tutor' })
  await write(page, naming.getByLabel('Name'), 'web-app')
  await keyboard.press('Enter')
  const shown = page.getByRole('dialog', { name: 'The token web-app' })
  const token = await shown.locator('code').textContent()
  t.deepEqual(await axeFinds(page), [])
  await press(page, shown.getByRole('button', { name: 'Close' }))
  const call = () => askWho(forge, id, token)
  t.true((await (await call()).text()).includes('I am two'))

  await press(page, page.getByRole('button', { name: 'Roll back' }))
  const back = page.getByRole('dialog', { name: 'Roll tutor back to revision 1' })
  await press(page, back.getByRole('button', { name: 'Roll back' }))
  await until('requests go back', 20_000, async () =>
    (await (await call()).text()).includes('I am one'),
  )
  await press(page, page.getByRole('button', { name: 'Revoke: web-app' }))
  const revoke = page.getByRole('dialog', { name: 'Revoke the token web-app' })
  await press(page, revoke.getByRole('button', { name: 'Revoke' }))
  await page.getByText(/^Rejected at \d/).waitFor()
  await until('it is rejected', 20_000, async () => (await call()).status === 401)
  t.deepEqual(await axeFinds(page), [])

  await press(page, page.getByRole('link', { name: 'Try it' }).first())
  await page.getByRole('heading', { name: 'Playground' }).waitFor()
  await choose(page, page.getByLabel('Left model'), 'tutor, revision 1')
  await choose(page, page.getByLabel('Right model'), 'tutor, revision 2')
  await page.getByRole('timer').nth(1).waitFor()
  await write(page, page.getByLabel(/^Prompt/), 'Who are you?')
  await keyboard.press('Control+Enter')
  await page.getByRole('region', { name: 'revision 1' }).getByText('I am one').waitFor()
  await page.getByRole('region', { name: 'revision 2' }).getByText('I am two').waitFor()
  t.deepEqual(await axeFinds(page), [])
  t.deepEqual(faults, [])
})
