import test from 'ava'
import { type Forge, startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { axeFinds, fits, keepViews, openSignedIn } from './browse.ts'

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
      ...{ step, size_bytes: 1024 * 1024, sha256 },
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
  await row('s3://bucket/1.pt').getByText('9f9f9f9f…').waitFor()

  // An artifact that a run needs stays, and the run is named.
  await page.getByRole('button', { name: 'Delete s3://bucket/1.pt' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(`${next?.short_id} started from it`).waitFor()
  t.is(await dialog.getByRole('button', { name: 'Delete' }).count(), 0)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Delete s3://bucket/2.pt' }).click()
  await dialog.getByText('where Forge deletes nothing').waitFor()
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
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
