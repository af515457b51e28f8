import test from 'ava'
import { sharedForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'
import { axeFinds, becomes, fits, keepViews, openSignedIn } from './browse.ts'

const shared = sharedForge()
const esc = '\u001b'

test('a log fills the window, and its hits are found by keyboard: which of how many, next and previous', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  const lines = Array.from({ length: 400 }, (_, n) =>
    n % 100 === 7 ? `step ${n} spike` : `step ${n}`,
  )
  await ingest(forge, run, 'logs', { chunks: lines })
  const { page, faults } = await openSignedIn(t, forge)
  await page.setViewportSize({ width: 1440, height: 1000 })
  await page.goto(`${forge.url}/runs/${run.short_id}/logs`)
  const log = page.getByRole('log')
  await log.getByText('step 399', { exact: true }).waitFor()
  const below = async () => {
    const box = await log.boundingBox()
    return box ? Math.round(page.viewportSize()?.height ?? 0) - (box.y + box.height) : -1
  }
  const left = await below()
  t.true(left >= 0 && left <= 32, `the log ends ${left} px above the end of the window`)
  await page.setViewportSize({ width: 1440, height: 1300 })
  await until('it grows with the window', 20_000, async () => (await below()) === left)

  const search = page.getByLabel('Search the log')
  await search.focus()
  await page.keyboard.type('spike')
  await page.keyboard.press('Enter')
  const hits = page.locator('[data-fact=hits]')
  await becomes(t, () => hits.textContent(), '4 lines')
  const seen = async (key: string, text: string, line: number) => {
    await page.keyboard.press(key)
    await becomes(t, () => hits.textContent(), text)
    await becomes(
      t,
      () => log.locator('[aria-current]').textContent(),
      `${line}step ${line - 1} spike`,
    )
  }
  await seen('Enter', '1 of 4', 8)
  await seen('Enter', '2 of 4', 108)
  await seen('Shift+Enter', '1 of 4', 8)
  await page.keyboard.press('Shift+Enter')
  await page.getByText('That was the first one.').waitFor()
  await seen('Enter', '2 of 4', 108)
  t.is(await log.locator('[aria-current] mark').textContent(), 'spike')
  t.deepEqual(await axeFinds(page), [])
  await keepViews(page, 'run-log-hits')
  await fits(page)
  await page.getByRole('button', { name: 'All hits' }).press('Enter')
  await search.focus()
  await seen('Shift+Enter', '4 of 4', 308)
  t.deepEqual(faults, [])
})

test('a log shows levels, links, and every style of a terminal', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  await ingest(forge, run, 'logs', {
    chunks: [
      'see https://forge.example/a?b=1, not javascript:alert(1)',
      '2026-11-27 12:00:00 [WARNING] slow',
      'RuntimeError: out of data',
      'DEBUG nothing',
      `${esc}[38;5;208m256${esc}[0m ${esc}[38;2;10;20;30;48;2;10;20;30mtrue${esc}[0m ${esc}[7mreversed${esc}[27m`,
      `${esc}[4munder${esc}[24m ${esc}[9mstruck${esc}[29m ${esc}[2mdim${esc}[22m ${esc}[1mbold${esc}[22m ${esc}[3mitalic${esc}[23m`,
      `${esc}[31mred${esc}[32mgreen${esc}[33myellow${esc}[34mblue${esc}[35mmagenta${esc}[36mcyan${esc}[2mfaint${esc}[0m`,
    ],
  })
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/runs/${run.short_id}/logs`)
  const log = page.getByRole('log')
  const link = log.getByRole('link', { name: 'https://forge.example/a?b=1' })
  t.is(await link.getAttribute('href'), 'https://forge.example/a?b=1')
  t.is(await link.getAttribute('rel'), 'noopener noreferrer nofollow')
  t.is(await link.getAttribute('target'), '_blank')
  const levels = () =>
    log.locator('[data-level]').evaluateAll(all => all.map(one => one.getAttribute('data-level')))
  await becomes(t, levels, ['warning', 'error', 'debug'])
  const style = (text: string, property: string) =>
    log
      .getByText(text, { exact: true })
      .evaluate((one, name) => getComputedStyle(one).getPropertyValue(name), property)
  t.not(await style('true', 'color'), await style('true', 'background-color'))
  t.is(await style('true', 'background-color'), 'rgb(10, 20, 30)')
  t.not(await style('reversed', 'background-color'), 'rgba(0, 0, 0, 0)')
  t.regex(await style('under', 'text-decoration-line'), /underline/)
  t.regex(await style('struck', 'text-decoration-line'), /line-through/)
  t.is(await style('bold', 'font-weight'), '600')
  t.is(await style('italic', 'font-style'), 'italic')
  t.not(await style('dim', 'color'), await style('bold', 'color'))
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    t.deepEqual(await axeFinds(page), [])
  }
  await keepViews(page, 'run-log-styles')
  t.deepEqual(faults, [])
})

test('a log that is loading does not look empty, and one that cannot be read says so', async t => {
  const forge = await shared()
  const [empty, full] = [await createRun(forge), await createRun(forge)]
  await ingest(forge, full, 'logs', { chunks: ['the first line'] })
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/runs/${empty.short_id}/logs`)
  await page.getByText('No output yet.').waitFor()

  let requests = 0
  const released = Promise.withResolvers<void>()
  await page.route(/\/logs\?.*limit=200/, async route => {
    requests++
    await released.promise
    await route.continue()
  })
  await page.goto(`${forge.url}/runs/${full.short_id}/logs`)
  const log = page.getByRole('log')
  await log.locator('[aria-busy=true]').waitFor()
  t.is(await page.getByText('No output yet.').count(), 0)
  await until('it is requested', 20_000, () => requests > 0)
  released.resolve()
  await log.getByText('the first line').waitFor()
  await page.unroute(/\/logs\?.*limit=200/)

  // After a 422 nothing but the button reads again.
  await page.route(/\/logs\?.*limit=200/, route =>
    route.fulfill({ status: 422, json: { detail: 'The line store is away' } }),
  )
  await page.reload()
  await page.getByRole('alert').getByText('The line store is away').waitFor()
  await page.unroute(/\/logs\?.*limit=200/)
  await page.getByRole('button', { name: 'Try again' }).press('Enter')
  await log.getByText('the first line').waitFor()
  t.deepEqual(faults, [])
})
