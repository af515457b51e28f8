import test from 'ava'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { axeFinds, fits, keepViews, openSignedIn } from './browse.ts'

test('a model shows its versions, their source, and who moved an alias, which is moved in the page', async t => {
  t.timeout(patient(120_000))
  const forge = await startForge(t)
  const run = await createRun(forge)
  await ingest(forge, run, 'lifecycle', { event: 'running' })
  await forge.call('POST', '/api/models', { body: { name: 'math-tutor', project: 'demo' } })
  for (const step of [1, 2]) {
    const artifact = await ingest(forge, run, 'artifact', {
      ...{ kind: 'checkpoint', path: `step-${step}`, format: 'safetensors', step },
    })
    const added = await forge.call('POST', '/api/models/math-tutor/versions', {
      body: { artifact_id: artifact.artifact_id, stage_notes: `after step ${step}` },
    })
    t.is(added.status, 200, JSON.stringify(added.body))
  }
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/models`)
  await page.getByRole('main').getByRole('link', { name: 'math-tutor' }).click()
  await page.getByRole('heading', { name: 'math-tutor', level: 1 }).waitFor()
  await page.getByText('after step 2').waitFor()
  await page.getByRole('link', { name: 'Version 1' }).click()
  await page.getByText('after step 1').waitFor()
  await page
    .getByRole('region', { name: 'Where version 1 comes from' })
    .getByText('step-1')
    .waitFor()

  await page.getByRole('region', { name: 'Python' }).getByText('revision="v1"').waitFor()

  await page.getByRole('button', { name: 'New alias' }).click()
  const made = page.getByRole('dialog', { name: 'New alias of math-tutor' })
  await made.getByLabel('Alias').fill('stable')
  await made.getByLabel('Version').fill('1')
  await made.getByRole('button', { name: 'New alias' }).click()
  await page.getByRole('button', { name: 'Move: stable' }).click()
  const moved = page.getByRole('dialog', { name: 'Move stable of math-tutor' })
  await moved.getByLabel('Reason').fill('better at <i>fractions</i>')
  await moved.getByRole('button', { name: 'Move' }).click()
  await moved.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'History of stable' }).click()
  const history = page.getByRole('dialog', { name: 'History of stable' })
  await history.getByText('better at <i>fractions</i>').waitFor()
  t.is(await history.getByRole('row').count(), 3)
  await history.getByRole('button', { name: 'Close' }).click()
  t.deepEqual(await axeFinds(page), [])
  await keepViews(page, 'console-model')
  await fits(page)
  t.deepEqual(faults, [])
})
