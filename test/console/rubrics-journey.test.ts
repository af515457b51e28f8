import test from 'ava'
import { deployed } from '../gateway/deployed.ts'
import { startJudge } from '../rubrics/judge-engine.ts'
import { startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { axeFinds, becomes, createPerson, keepViews, openSignedIn } from './browse.ts'

type Rubric = { version: number; visibility: string; criteria: { name: string; weight: number }[] }

test('a rubric is written, found in the list, changed into its next version, and closed to others', async t => {
  const forge = await startForge(t)
  await createPerson(forge, 'ada')
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/rubrics`)
  await page.getByText('No rubrics yet.').waitFor()
  await page.getByRole('link', { name: 'New rubric' }).click()
  await page.getByLabel('Name', { exact: true }).fill('helpful')
  await page.getByLabel('Description').first().fill('Is it <b>any</b> use?')
  await page.getByLabel('Who sees it').selectOption('public')
  await page.getByLabel('Criterion').fill('clear')
  const remove = page.getByRole('button', { name: 'Remove' })
  await becomes(t, () => remove.getAttribute('aria-disabled'), 'true', 'one is needed')
  await page.getByRole('button', { name: 'Add a criterion' }).click()
  await page.getByLabel('Criterion').nth(1).fill('true')
  await page.getByLabel('Weight').nth(1).fill('2.5')
  await keepViews(page, 'console-rubric')
  await page.setViewportSize({ width: 1280, height: 800 })
  t.deepEqual(await axeFinds(page), [])
  await page.getByRole('button', { name: 'Save' }).click()
  await page.waitForURL('**/rubrics/admin/helpful')
  await page.getByText('Version 1.').waitFor()
  const path = '/api/rubrics/admin/helpful'
  const { body: first } = await forge.call<Rubric>('GET', path)
  t.is(first.visibility, 'public')
  t.like(first.criteria, { 0: { name: 'clear', weight: 1 }, 1: { name: 'true', weight: 2.5 } })

  await page.getByLabel('Highest score').fill('-1')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Highest score').fill('5')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Version 2.').waitFor()
  await page.getByRole('banner').getByRole('button', { name: 'Data' }).click()
  await page.getByRole('menuitem', { name: 'Rubrics' }).click()
  await page.getByRole('cell', { name: 'Is it <b>any</b> use?' }).waitFor()
  t.deepEqual(faults, [])

  const other = await openSignedIn(t, forge, 'ada')
  await other.page.goto(`${forge.url}/rubrics/admin/helpful`)
  const save = other.page.getByRole('button', { name: 'Save' })
  await becomes(t, () => save.getAttribute('aria-disabled'), 'true')
  t.deepEqual(other.faults, [])
})

test('a deployment tests a rubric on its page, and judges a round with its reasons on the page of the run', async t => {
  const forge = await startForge(t)
  const engine = await startJudge(t)
  engine.answer = response =>
    response === 'no idea'
      ? 'not JSON'
      : JSON.stringify({ reason: 'It names the product.', scores: { clear: 0.75 } })
  await deployed(forge, 'judge', [engine.url])
  const run = await createRun(forge, 'serving')
  await ingest(forge, run, 'validation', {
    step: 10,
    samples: [
      { user: 'What is 6 x 7?', assistant: 'It is 42.' },
      { user: 'What is 6 x 8?', assistant: 'no idea' },
    ],
  })
  await forge.call('PUT', '/api/rubrics/admin/helpful', {
    body: { name: 'helpful', criteria: [{ name: 'clear' }] },
  })
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/rubrics/admin/helpful`)
  await page.getByLabel('Run', { exact: true }).fill(run.short_id)
  await page.getByRole('button', { name: 'Test', exact: true }).click()
  await page.getByRole('cell', { name: 'It names the product.' }).waitFor()
  await page.getByRole('cell', { name: 'the response is not JSON' }).waitFor()
  await keepViews(page, 'console-rubric-test')
  await page.setViewportSize({ width: 1280, height: 800 })
  t.deepEqual(await axeFinds(page), [])

  await page.goto(`${forge.url}/runs/${run.short_id}/samples`)
  await page.getByRole('button', { name: 'Judge', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Judge step 10' })
  await dialog.getByLabel('Rubric').selectOption('admin/helpful')
  await dialog.getByRole('button', { name: 'Judge' }).click()
  await page.getByText('1 of 2 scored').waitFor()
  await page.getByText('1 without a score').waitFor()
  await page.getByText('It names the product.').waitFor()
  await page.getByRole('listbox').press('j')
  await page.getByText('the response is not JSON').waitFor()
  await keepViews(page, 'console-judged-samples')
  await page.setViewportSize({ width: 1280, height: 800 })
  t.deepEqual(await axeFinds(page), [])
  t.deepEqual(faults, [])
})
