import test from 'ava'
import { type Forge, startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { axeFinds, becomes, fits, keepViews, openSignedIn } from './browse.ts'

/** A job that begins from an artifact, and a clone of it; without an executor they stay queued. */
async function beginFrom(forge: Forge, artifact_id: string): Promise<{ short_id: string }[]> {
  await forge.call('PUT', '/api/admin/profiles/spare', {
    body: { series: 'X', gpus_per_node: 1, executor: 'local' },
  })
  const { body: lock } = await forge.call('GET', '/api/recipes/digits/1.0.0/lock')
  const submit = async (labels: object) => {
    const reply = await forge.call<{ short_id: string }>('POST', '/api/jobs', {
      body: {
        api: 'forge/v2',
        metadata: { name: 'next <b>stage</b>', project: 'demo', labels },
        lock,
        spec: {
          resources: { profile: 'spare' },
          init_from: { artifact_id, load: 'weights' },
        },
      },
    })
    if (reply.status !== 200) throw new Error(JSON.stringify(reply.body))
    return reply.body
  }
  return [await submit({}), await submit({})]
}

test('a person sees the artifacts of a run, why they stay and their descendants, and deletes the rest', async t => {
  const forge = await startForge(t, {
    SERVICE_ROLES: 'command-api,relay,projector,query-api',
  })
  const run = await createRun(forge)
  const sha256 = '9f'.repeat(32)
  const register = (step: number) =>
    ingest(forge, run, 'artifact', {
      ...{ kind: 'checkpoint', path: `s3://bucket/${step}.pt`, format: 'safetensors' },
      ...{ step, size_bytes: (4 - step) * 1024 * 1024, sha256 },
      ...(step < 3 && { metrics: { 'val/acc': 0.123456 * step, 'val/loss': 1 } }),
    })
  const first = await register(1)
  await register(2)
  const third = await register(3)
  const versions = '/api/models/digits/versions'
  t.is(
    (await forge.call('POST', '/api/models', { body: { name: 'digits', project: 'demo' } })).status,
    200,
  )
  const version = await forge.call('POST', versions, { body: { artifact_id: third.artifact_id } })
  t.is(version.status, 200, JSON.stringify(version.body))
  const [next] = await beginFrom(forge, String(first.artifact_id))
  const { page, faults } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/runs/${run.run_id}/artifacts`)
  const row = (path: string) => page.getByRole('row').filter({ hasText: path })
  await row('s3://bucket/1.pt').getByText('started from it').first().waitFor()
  await row('s3://bucket/1.pt').getByText('safetensors').waitFor()
  await row('s3://bucket/3.pt').getByText('digits@1 is a version of a model').waitFor()
  const paths = () =>
    page
      .getByRole('row')
      .locator('[title^="s3://"]')
      .evaluateAll(all => all.map(one => one.textContent?.match(/(\d)\.pt/)?.[1]).join(''))
  await becomes(t, paths, '321')
  const sortBy = (name: string) =>
    page.getByRole('columnheader', { name }).getByRole('button').press('Enter')
  await sortBy('Size')
  await becomes(t, paths, '123')
  await page.waitForURL(/sort=-size/)
  await page
    .getByRole('columnheader', { name: 'Size' })
    .and(page.locator('[aria-sort=descending]'))
    .waitFor()
  await sortBy('Size')
  await becomes(t, paths, '321')
  await sortBy('val/acc')
  await becomes(t, paths, '213', 'one without the metric is last')
  await row('s3://bucket/2.pt').getByTitle('val/acc 0.246912').waitFor()
  const heights = await page
    .getByRole('table', { name: 'Artifacts' })
    .locator('tbody tr')
    .evaluateAll(all => all.map(one => Math.round(one.getBoundingClientRect().height)))
  t.true(
    heights.every(height => height <= 48),
    `one line each: ${heights}`,
  )

  // An artifact that a run needs stays, and the run is named.
  const remove = async (path: string) => {
    await page.getByRole('button', { name: `More actions: ${path}` }).press('Enter')
    await page.getByRole('menuitem', { name: 'Delete' }).press('Enter')
  }
  await remove('s3://bucket/1.pt')
  const dialog = page.getByRole('dialog')
  await dialog.getByText(`${next?.short_id} started from it`).waitFor()
  await dialog.getByRole('button', { name: 'Delete', exact: true, disabled: true }).waitFor()
  await page.keyboard.press('Escape')

  // Several at once: what something needs is named and stays, the rest goes.
  for (const path of ['1', '2', '3']) await page.getByLabel(`Select s3://bucket/${path}.pt`).check()
  await page.getByText('3 selected').waitFor()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await dialog.getByText('2 cannot be deleted').waitFor()
  await dialog.getByText(`${next?.short_id} started from it`).waitFor()
  t.deepEqual(await axeFinds(page), [])
  await keepViews(page, 'console-run-artifacts-delete')
  await page.setViewportSize({ width: 1280, height: 800 })
  await dialog.getByRole('button', { name: 'Delete 1 artifact' }).click()
  await page.getByText('1 artifact deleted').waitFor()
  await row('s3://bucket/2.pt').waitFor({ state: 'detached' })
  await page.getByLabel('Include deleted').check()
  await row('s3://bucket/2.pt').getByText('by admin').waitFor()

  const graph = page.getByRole('group', { name: 'Lineage' })
  await graph.getByText('checkpoint · step 1').waitFor()
  t.deepEqual(await axeFinds(page), [])
  await keepViews(page, 'console-run-artifacts')
  await fits(page)
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.getByRole('button', { name: 'Table' }).click()
  await page.getByRole('table', { name: 'Lineage' }).getByText('started from').first().waitFor()
  await page.waitForURL(/deleted=1.*lineage=table/)
  await page.getByRole('button', { name: 'Graph' }).click()
  await graph.getByRole('link', { name: 'next <b>stage</b>' }).first().click()
  await page.getByRole('heading', { level: 1, name: 'next <b>stage</b>' }).waitFor()
  t.deepEqual(faults, [])
})

test('an artifact is registered as a model and deployed from its line; a failed deletion is reported', async t => {
  const forge = await startForge(t, {
    SERVICE_ROLES: 'command-api,relay,projector,query-api',
  })
  const run = await createRun(forge)
  const paths = ['s3://bucket/a.pt', 's3://bucket/b.pt']
  for (const path of paths)
    await ingest(forge, run, 'artifact', { kind: 'checkpoint', path, format: 'torch' })
  await ingest(forge, run, 'artifact', {
    ...{ kind: 'eval_report', path: 's3://bucket/report.json', format: 'json' },
  })
  const { page, faults } = await openSignedIn(t, forge)
  const address = `${forge.url}/runs/${run.short_id}/artifacts`
  await page.goto(address)
  const register = (path: string) =>
    page.getByRole('button', { name: `Register ${path} as a model` }).press('Enter')
  for (const [nth, path] of paths.entries()) {
    await register(path)
    const dialog = page.getByRole('dialog', { name: `Register ${path} as a model` })
    await dialog.getByLabel('Name of the model').fill('tutor')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'tutor', level: 1 }).waitFor()
    await page.waitForURL(`**/models/tutor?version=${nth + 1}`)
    await page.goBack()
  }
  await page.getByText('tutor@2 is a version of a model').waitFor()
  t.is(await page.getByRole('link', { name: 'Deploy s3://bucket/report.json' }).count(), 0)

  // The server refuses after the question: somebody else was faster.
  await page.route('**/api/artifacts/*', route =>
    route.request().method() === 'DELETE' && !route.request().url().includes('dry_run')
      ? route.fulfill({ status: 409, json: { detail: 'vision-9 started from it' } })
      : route.continue(),
  )
  await page.getByLabel('Select s3://bucket/report.json').check()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('0 artifacts deleted').waitFor()
  await page
    .getByRole('alert')
    .getByText('s3://bucket/report.json: vision-9 started from it')
    .waitFor()

  await page.getByRole('link', { name: 'Deploy s3://bucket/a.pt' }).press('Enter')
  const deploy = page.getByRole('dialog', { name: /^Deploy art_/ })
  await deploy.getByLabel('Name').fill('tutor')
  t.deepEqual(await axeFinds(page), [])
  await deploy.getByLabel('Serving template').fill('tiny-lm')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'tutor', level: 1 }).waitFor()
  await page.waitForURL('**/deployments/dep_*')
  t.deepEqual(faults, [])
})
