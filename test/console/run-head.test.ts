import test from 'ava'
import type { Page } from 'playwright-core'
import { sharedForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { axeFinds, becomes, fits, keepViews, openSignedIn } from './browse.ts'

const shared = sharedForge()

type Shown = { name: string | null; starred: boolean; archived: boolean; tags: string[] }

const focused = (page: Page) =>
  page.evaluate(
    () =>
      document.activeElement?.getAttribute('aria-label') ??
      document.activeElement?.outerHTML.slice(0, 80),
  )

test('an external run is renamed, starred, tagged, archived and deleted by keyboard alone', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  const { page, faults } = await openSignedIn(t, forge)
  const read = async () => (await forge.call<Shown>('GET', `/api/runs/${run.run_id}`)).body
  await page.goto(`${forge.url}/runs/${run.short_id}`)
  await page.getByRole('heading', { level: 1, name: run.short_id }).waitFor()
  const actions = page.getByRole('main').locator('header').first().getByRole('button')
  const names = () =>
    actions.evaluateAll(all => all.map(one => one.getAttribute('aria-label') ?? one.textContent))
  await becomes(t, names, [
    ...[`Star ${run.short_id}`, 'Rename', 'Stop', 'More actions'],
    `Copy: ${run.short_id}`,
  ])

  await page.getByRole('button', { name: 'Rename' }).focus()
  await page.keyboard.press('Enter')
  const name = '基线 🚀 '.repeat(25).trim().slice(0, 128)
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.keyboard.press('Escape')
  await becomes(t, () => focused(page), 'Rename')
  t.is((await read()).name, null, 'Escape changes nothing')
  await page.keyboard.press('Enter')
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name }).waitFor()
  await becomes(t, () => focused(page), 'Rename')

  const star = page.getByRole('button', { name: `Star ${run.short_id}` })
  await star.focus()
  await page.keyboard.press('Space')
  await becomes(t, () => star.getAttribute('aria-pressed'), 'true')

  const more = page.getByRole('button', { name: 'More actions' })
  await more.focus()
  await page.keyboard.press('Enter')
  const menu = page.getByRole('menu', { name: 'More actions' })
  await becomes(t, () => menu.getByRole('menuitem').allTextContents(), [
    ...['Diagnose', 'Tags', 'Archive', 'Force stop'],
  ])
  t.deepEqual(await axeFinds(page), [])
  await page.keyboard.press('Escape')
  await menu.waitFor({ state: 'detached' })
  await becomes(t, () => focused(page), 'More actions')

  await page.keyboard.press('Enter')
  await page.keyboard.press('t')
  await becomes(t, () => page.evaluate(() => document.activeElement?.textContent), 'Tags')
  await page.keyboard.press('Enter')
  await page.getByLabel('Tags, separated by commas').fill('kept, best')
  await page.keyboard.press('Enter')
  await page.getByText('kept', { exact: true }).waitFor()
  await becomes(t, () => focused(page), 'More actions')
  await page.keyboard.press('Enter')
  await menu.getByRole('menuitem', { name: 'Archive' }).press('Enter')
  await page.getByText('archived', { exact: true }).waitFor()
  t.like(await read(), { name, starred: true, archived: true, tags: ['kept', 'best'] })
  await page.keyboard.press('Enter')
  await menu.getByRole('menuitem', { name: 'Take out of the archive' }).press('Enter')
  await page.getByText('archived', { exact: true }).waitFor({ state: 'detached' })
  t.false((await read()).archived)

  await keepViews(page, 'run-head')
  await fits(page)
  await ingest(forge, run, 'lifecycle', { event: 'succeeded' })
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
  await more.focus()
  await page.keyboard.press('Enter')
  await menu.getByRole('menuitem', { name: 'Delete' }).press('Enter')
  await page
    .getByRole('dialog', { name: 'Delete' })
    .getByRole('button', { name: 'Delete' })
    .press('Enter')
  await page.getByRole('button', { name: 'Restore' }).waitFor()
  t.deepEqual(faults, [])
})

test('the main metric is the largest number: the best one its code marked, else the most interesting', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  const { page, faults } = await openSignedIn(t, forge)
  const keys = Array.from({ length: 62 }, (_, n) => `layer/${n}/norm`)
  await ingest(forge, run, 'metrics', {
    points: ['train/loss', ...keys].map(key => ({ key, step: 1200, value: 0.123456 })),
  })
  await page.goto(`${forge.url}/runs/${run.short_id}`)
  const main = page.locator('[data-fact=main]')
  await becomes(t, () => main.textContent(), '0.123 train/loss · last · at step 1,200')
  await main.getByTitle('train/loss 0.123456', { exact: true }).waitFor()
  const sizeOf = (one: Element) => Number.parseFloat(getComputedStyle(one).fontSize)
  const [shown, title] = [
    await main.locator('strong').evaluate(sizeOf),
    await page.locator('h1').evaluate(sizeOf),
  ]
  t.true(shown > title, `${shown} ${title}`)
  t.deepEqual(await axeFinds(page), [])
  await keepViews(page, 'run-main')
  await fits(page)
  t.deepEqual(faults, [])
})
